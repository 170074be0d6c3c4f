import { redactKeys } from '@animal-store/access-domain';

/** Characters of a decoded path that are encoded again: spaces, control characters, and bytes of non-ASCII characters. */
const NOT_PRINTABLE = /[^!-~]/g;
const ESCAPES = /%([0-9a-f]{2})/gi;
/** A client may percent-encode a path twice, and `rewriteUrl` of the HTTP server may encode it a third time. */
const MAX_ENCODINGS = 3;

/** Returns the path of a request target for the log, without the query string and with API keys redacted, even if percent-encoded. */
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
