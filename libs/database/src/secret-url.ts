import { readFileSync } from 'node:fs';

/** A URL with a password, or the file that holds it. */
export type SecretUrl = string | { readonly file: string };

/**
 * Returns the URL. Reads a file again each time, so that the password can be rotated.
 * @throws Error whose message begins with "cannot"
 */
export function readSecretUrl(url: SecretUrl): string {
  if (typeof url === 'string') return url;
  try {
    return readFileSync(url.file, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
