/** The visible prefix of a key, then what must never be seen. */
const KEY = /(ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6})[0-9A-Za-z]+/g;

/** Returns the text with each API key cut to its prefix, by which the owner can be told to revoke it. */
export function redactKeys(text: string): string {
  return text.includes('ast_') ? text.replace(KEY, '$1…') : text;
}
