declare const brand: unique symbol;

/** Assigned by the store, never reused; any int64. */
export type ClientId = bigint & { readonly [brand]: 'ClientId' };

export type ClientName = string & { readonly [brand]: 'ClientName' };

/** Who holds keys. It outlives them: what is kept per client survives the rotation of a key. */
export interface Client {
  readonly id: ClientId;
  readonly name: ClientName;
}

export const CLIENT_NAME_RULE = 'must be 1 to 100 printable characters, no space first or last';

const MAX_CODE_POINTS = 100;

/** Controls, invisible formatting, and every white space except U+0020; two names that look alike would confuse operators. */
const NOT_PRINTABLE = /[\p{Cc}\u00a0\u00ad\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/u;

export function isClientName(value: string): value is ClientName {
  return (
    value.length > 0 &&
    value.length <= 2 * MAX_CODE_POINTS &&
    Array.from(value).length <= MAX_CODE_POINTS &&
    value.isWellFormed() &&
    !value.startsWith(' ') &&
    !value.endsWith(' ') &&
    !NOT_PRINTABLE.test(value)
  );
}
