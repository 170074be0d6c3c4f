import { readFileSync, statSync } from 'node:fs';

/** A URL with a password, or the file that contains it. If the file contains several URLs, `index` selects one. */
export type SecretUrl = string | { readonly file: string; readonly index?: number };

/** A comma between two URLs. Commas also separate the hosts within one URL. */
const SEPARATOR = /\s*,\s*(?=\w+:\/\/)/;

const MAX_FILE_BYTES = 65_536;

export function splitUrls(text: string): string[] {
  return text.trim().split(SEPARATOR);
}

/**
 * Returns the URL without the white space around it. Reads a file again each time, so that the password can be rotated.
 * @throws Error whose message begins with "cannot"
 */
export function readSecretUrl(url: SecretUrl): string {
  if (typeof url === 'string') return url.trim();
  try {
    // A pipe would block, and would be empty when it is read again.
    const file = statSync(url.file, { throwIfNoEntry: false });
    if (file && (!file.isFile() || file.size > MAX_FILE_BYTES))
      throw new Error(`it must be a file of at most ${String(MAX_FILE_BYTES)} bytes`);
    // Also removes a byte order mark.
    const text = readFileSync(url.file, 'utf8');
    return url.index === undefined ? text.trim() : (splitUrls(text)[url.index] ?? '');
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
