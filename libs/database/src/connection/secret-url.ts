import { readFileSync, statSync } from 'node:fs';

/** A URL with a password, or the file that contains it. If the file contains several URLs, `index` selects one. */
export type SecretUrl = string | { readonly file: string; readonly index?: number };

/** A comma between two URLs. */
const SEPARATOR = /\s*,\s*(?=\w+:\/\/)/;

const MAX_FILE_BYTES = 65_536;

export function splitUrls(text: string): string[] {
  return text.trim().split(SEPARATOR);
}

/**
 * Returns the URL without the white space around it. Reads a file again each time, so that the password can be rotated.
 * @throws Error whose message begins with "cannot", and names the file
 */
export function readSecretUrl(url: SecretUrl): string {
  if (typeof url === 'string') return url.trim();
  const { file, index } = url;
  let text: string;
  try {
    // A pipe would block, and would be empty when it is read again.
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats && (!stats.isFile() || stats.size > MAX_FILE_BYTES))
      throw new Error(`it must be a file of at most ${String(MAX_FILE_BYTES)} bytes`);
    // Also removes a byte order mark.
    text = readFileSync(file, 'utf8').trim();
    if (text === '') throw new Error(`${file} is empty`);
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const selected = index === undefined ? text : splitUrls(text)[index];
  if (selected === undefined) throw new Error(`cannot be read: ${file} contains fewer URLs than before`);
  return selected;
}
