/** The visible prefix of a key, then what must never be seen. */
const KEY = /(ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6})[0-9A-Za-z]+/g;
const ESCAPES = /%([0-9a-f]{2})/gi;
/** The HTTP server may have encoded a path once more than its client, who may have encoded it twice. */
const MAX_ENCODINGS = 3;

/** The text with each API key cut to the visible prefix, by which its owner can be told to revoke it. */
export function redactKeys(text: string): string {
  return text.includes('ast_') ? text.replace(KEY, '$1…') : text;
}

/** The path of a request target for the log: without the query string, and without a key however it is encoded. */
export function loggedPath(target: string): string {
  const path = target.split('?', 1)[0] ?? '';
  const decoded = path.includes('%') ? decode(path) : path;
  const redacted = redactKeys(decoded);
  return redacted === decoded ? path : redacted;
}

function decode(path: string): string {
  let decoded = path;
  for (let i = 0; i < MAX_ENCODINGS; i++)
    decoded = decoded.replace(ESCAPES, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decoded;
}
