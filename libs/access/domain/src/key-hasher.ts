import type { ApiKeySecret } from './api-key-secret.js';

declare const brand: unique symbol;

/** SHA-256 of a secret, 64 lower-case hexadecimal digits: the only trace of it that is kept. */
export type KeyHash = string & { readonly [brand]: 'KeyHash' };

export abstract class KeyHasher {
  /** Synchronous, since every request asks. A secret has 256 random bits, so neither salt nor stretching adds anything. */
  abstract hash(secret: ApiKeySecret): KeyHash;
}
