import { fromBase62, toBase62 } from './base62.js';
import { crc32 } from './crc32.js';

declare const brand: unique symbol;

/** The key as the client sends it: `ast_<environment>_`, 43 random Base62 characters, and a checksum of 6. */
export type ApiKeySecret = string & { readonly [brand]: 'ApiKeySecret' };

/** The beginning of a secret. It identifies a key without revealing it. */
export type ApiKeyPrefix = string & { readonly [brand]: 'ApiKeyPrefix' };

/** The environment of a key, such as `production`. Part of the key, so that people can see where it belongs. */
export type KeyEnvironment = string & { readonly [brand]: 'KeyEnvironment' };

export const KEY_ENVIRONMENT_RULE = 'must be 1 to 20 lower-case letters and digits, and must begin with a letter';

/** 256 bits. */
const RANDOM_WORDS = 4;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const VISIBLE_LENGTH = 6;

const ENVIRONMENT = /^[a-z][a-z0-9]{0,19}$/;
const SECRET = /^ast_[a-z][a-z0-9]{0,19}_[0-9A-Za-z]{49}$/;

export function isKeyEnvironment(value: string): value is KeyEnvironment {
  return ENVIRONMENT.test(value);
}

export function generateApiKeySecret(environment: KeyEnvironment): ApiKeySecret {
  const random = crypto.getRandomValues(new BigUint64Array(RANDOM_WORDS)).reduce((value, word) => (value << 64n) | word, 0n);
  const text = `ast_${environment}_${toBase62(random, RANDOM_LENGTH)}`;
  return `${text}${toBase62(BigInt(crc32(text)), CHECKSUM_LENGTH)}` as ApiKeySecret;
}

/** Whether the text has the format of a key and a valid checksum. The key may not exist. */
export function isApiKeySecret(text: string): text is ApiKeySecret {
  if (!SECRET.test(text)) return false;
  const checked = text.length - CHECKSUM_LENGTH;
  return fromBase62(text, checked) === crc32(text, checked);
}

export function prefixOf(secret: ApiKeySecret): ApiKeyPrefix {
  return secret.slice(0, VISIBLE_LENGTH - RANDOM_LENGTH - CHECKSUM_LENGTH) as ApiKeyPrefix;
}

export function environmentOf(prefix: ApiKeyPrefix): KeyEnvironment {
  return prefix.slice('ast_'.length, prefix.lastIndexOf('_')) as KeyEnvironment;
}
