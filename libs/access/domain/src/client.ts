declare const brand: unique symbol;

/** Assigned by the store, never reused; any int64. */
export type ClientId = bigint & { readonly [brand]: 'ClientId' };

export type ClientName = string & { readonly [brand]: 'ClientName' };

/** The owner of keys. Data stored per client is not affected by the rotation of keys. */
export interface Client {
  readonly id: ClientId;
  readonly name: ClientName;
  /** Requests per minute, 0 for no limit. If undefined, the service's limit applies. */
  readonly rateLimit?: number | undefined;
  /** When the client was disabled. All of its keys are rejected. */
  readonly disabledAt?: Date | undefined;
}

export const MAX_RATE_LIMIT = 1_000_000_000;
export const RATE_LIMIT_RULE = `must be an integer from 0 to ${String(MAX_RATE_LIMIT)}`;

export function isRateLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_RATE_LIMIT;
}

/** Returns the disabled client. Has no effect if it is already disabled. */
export function disableClient(client: Client, now: Date): Client {
  return client.disabledAt ? client : { ...client, disabledAt: now };
}

export function enableClient(client: Client): Client {
  return { ...client, disabledAt: undefined };
}

export const CLIENT_NAME_RULE = 'must be 1 to 100 printable characters without a space at the beginning or end, or next to another space';

const MAX_CODE_POINTS = 100;

/** Control characters, code points that have no shape, and white space except U+0020. Prevents names that look the same. */
const NOT_PRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]|(?! )\p{Zs}/u;

/** Returns the name in NFC: `é` as one code point and as two is one name. */
export function normalizeName(name: string): string {
  return name.normalize('NFC');
}

export function isClientName(value: string): value is ClientName {
  return (
    value.length > 0 &&
    value.length <= 2 * MAX_CODE_POINTS &&
    Array.from(value).length <= MAX_CODE_POINTS &&
    value.isWellFormed() &&
    !/^ | $| {2}/.test(value) &&
    !NOT_PRINTABLE.test(value) &&
    value === normalizeName(value)
  );
}
