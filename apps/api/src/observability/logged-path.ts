import { redactKeys } from '@animal-store/access-domain';

/** Beyond printable ASCII: after decoding, the bytes of control characters and of UTF-8. */
const NOT_PRINTABLE = /[^!-~]/g;
const ESCAPES = /%([0-9a-f]{2})/gi;
/** The HTTP server may have encoded a path once more than its client, who may have encoded it twice. */
const MAX_ENCODINGS = 3;

/** Returns the path of a request target for the log: without the query string, and without a key however it is encoded. */
export function loggedPath(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  const decoded = path.includes('%') ? decode(path) : path;
  const redacted = redactKeys(decoded);
  return redacted === decoded ? path : redacted.replace(NOT_PRINTABLE, encode);
}

function encode(character: string): string {
  return character === '…' ? character : `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function decode(path: string): string {
  let decoded = path;
  for (let i = 0; i < MAX_ENCODINGS; i++)
    decoded = decoded.replace(ESCAPES, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded;
}
