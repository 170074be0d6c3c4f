import { isInt64, parseInt64 } from '@animal-store/kernel';

declare const brand: unique symbol;

/** Assigned by the store, never reused; any int64. */
export type PetId = bigint & { readonly [brand]: 'PetId' };

/** A category of another service, by value: whether it exists is not checked here. */
export type CategoryId = bigint & { readonly [brand]: 'CategoryId' };

export const INT64_RULE = 'must be an integer from -9223372036854775808 to 9223372036854775807';

/** Reads the canonical decimal text of an int64; undefined when it is none. */
export function parsePetId(text: string): PetId | undefined {
  return parseInt64(text) as PetId | undefined;
}

export function isCategoryId(value: unknown): value is CategoryId {
  return typeof value === 'bigint' && isInt64(value);
}
