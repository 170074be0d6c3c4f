import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

export const KEY_FORMAT = /^ast_[a-z0-9]+_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/;

/** Returns the checksum of a key: the CRC-32 of the preceding characters as six Base62 characters. */
export function checksumOf(precedes: string): string {
  let rest = crc32(precedes);
  let text = '';
  for (; rest > 0; rest = Math.floor(rest / BASE62.length)) text = `${BASE62[rest % BASE62.length]}${text}`;
  return text.padStart(CHECKSUM_LENGTH, BASE62[0]);
}

export function withoutChecksum(key: string): string {
  return key.slice(0, -CHECKSUM_LENGTH);
}

/** Returns a key of the same environment that was never issued, with a valid checksum. */
export function unknownKey(key: string): string {
  const environment = /^ast_[a-z0-9]+_/.exec(key)?.[0] ?? '';
  const precedes = environment + Array.from({ length: 43 }, () => BASE62[randomInt(BASE62.length)]).join('');
  return precedes + checksumOf(precedes);
}

/** Returns the key with one character replaced. `index` is negative and counts from the end. */
export function withTypo(key: string, index: number): string {
  const at = key.length + index;
  return key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1);
}
