declare const brand: unique symbol;

/** The key as the client sends it: `ast_<environment>_`, 43 random Base62 characters, and a checksum of 6. */
export type ApiKeySecret = string & { readonly [brand]: 'ApiKeySecret' };

/** The environment of a key, such as `production`. Part of the key, so that people can see where it belongs. */
export type KeyEnvironment = string & { readonly [brand]: 'KeyEnvironment' };

export const KEY_ENVIRONMENT_RULE = 'must be 1 to 20 lower-case letters and digits, starting with a letter';

/** 256 bits. */
const RANDOM_WORDS = 4;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const VISIBLE_LENGTH = 6;

const ENVIRONMENT = /^[a-z][a-z0-9]{0,19}$/;
const SECRET = /^ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{49}$/;

export function isKeyEnvironment(value: string): value is KeyEnvironment {
  return ENVIRONMENT.test(value);
}

export function generateApiKeySecret(environment: KeyEnvironment): ApiKeySecret {
  const random = crypto.getRandomValues(new BigUint64Array(RANDOM_WORDS)).reduce((value, word) => (value << 64n) | word, 0n);
  return withChecksum(`ast_${environment}_${toBase62(random, RANDOM_LENGTH)}`) as ApiKeySecret;
}

/** Whether the text has the format of a key and a valid checksum. The key may not exist. */
export function isApiKeySecret(text: string): text is ApiKeySecret {
  return SECRET.test(text) && text === withChecksum(text.slice(0, -CHECKSUM_LENGTH));
}

/** Appends the checksum of a key to the rest of it. */
export function withChecksum(text: string): string {
  return text + toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

/** Returns the beginning of a secret, which identifies a key without revealing it. */
export function prefixOf(secret: ApiKeySecret): string {
  return secret.slice(0, VISIBLE_LENGTH - RANDOM_LENGTH - CHECKSUM_LENGTH);
}

export function environmentOf(prefix: string): string {
  return prefix.slice('ast_'.length, prefix.lastIndexOf('_'));
}

/**
 * The visible prefix of a key and its secret part. Where a word begins, also after an escape such as `\n` or `%3D`, the key may be incomplete;
 * inside a word such as `last_name_…`, it has its full length.
 */
const KEY_IN_TEXT =
  /(?<=^|\W|\\[bfnrt]|\\u[\da-fA-F]{4}|%[\da-fA-F]{2})(ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6})(?:(?!ast_)[0-9A-Za-z])+|(ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6})[0-9A-Za-z]{43}/g;

/** Returns the text with each API key truncated to its prefix, which identifies the key to its owner. */
export function redactKeys(text: string): string {
  if (!text.includes('ast_')) return text;
  return text.replace(KEY_IN_TEXT, (found: string, atStart?: string, inWord?: string) => {
    if (atStart === undefined && !isApiKeySecret(found)) return found;
    return `${atStart ?? String(inWord)}…`;
  });
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns the number as `length` Base62 digits, padded with zeros. */
function toBase62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}

const POLYNOMIAL = 0xedb88320;

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? POLYNOMIAL : 0);
  return value;
});

/** Returns the CRC-32 (IEEE 802.3) of a text, which must be ASCII. */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) crc = (crc >>> 8) ^ (TABLE[(crc ^ text.charCodeAt(i)) & 0xff] as number);
  return ~crc >>> 0;
}
