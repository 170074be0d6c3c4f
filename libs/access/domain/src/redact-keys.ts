/** The visible prefix of a key, followed by its secret part. */
const KEY = /(ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{6})[0-9A-Za-z]+/g;

/** Returns the text with each API key truncated to its prefix, which identifies the key to its owner. */
export function redactKeys(text: string): string {
  return text.includes('ast_') ? text.replace(KEY, '$1…') : text;
}
