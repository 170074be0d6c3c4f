import { readFileSync } from 'node:fs';

/** A URL with a password, or the file that holds it; of several URLs in a file, the one at the index. */
export type SecretUrl = string | { readonly file: string; readonly index?: number };

/** Between two URLs: several hosts of one URL are separated by commas as well. */
const SEPARATOR = /\s*,\s*(?=\w+:\/\/)/;

export function splitUrls(text: string): string[] {
  return text.split(SEPARATOR);
}

/**
 * Returns the URL. Reads a file again each time, so that the password can be rotated.
 * @throws Error whose message begins with "cannot"
 */
export function readSecretUrl(url: SecretUrl): string {
  if (typeof url === 'string') return url;
  try {
    const text = readFileSync(url.file, 'utf8').trim();
    return url.index === undefined ? text : (splitUrls(text)[url.index] ?? '');
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
