import type { ApiKeySecret } from './api-key-secret.js';

declare const brand: unique symbol;

/** SHA-256 of a secret as 64 lower-case hexadecimal digits. Stored instead of the secret. */
export type KeyHash = string & { readonly [brand]: 'KeyHash' };

export abstract class KeyHasher {
  /** Returns the hash. A secret has 256 random bits, so salt and key stretching are not needed. */
  abstract hash(secret: ApiKeySecret): KeyHash;
}
