/** The owner of keys. Data stored per client is not affected by the rotation of keys. */
export interface Client {
  readonly id: bigint;
  readonly name: string;
  /** Requests per minute, 0 for no limit. If null, the service's limit applies. */
  readonly rateLimit: number | null;
  /** When the client was disabled. All of its keys are rejected. */
  readonly disabledAt: Date | null;
}

export type ClientChange = Pick<Client, 'rateLimit'> | Pick<Client, 'disabledAt'>;

export const MAX_RATE_LIMIT = 1_000_000_000;

export const CLIENT_NAME_RULE = 'must be 1 to 100 printable characters without a space at the beginning or end, or next to another space';

/** Control characters, code points that have no shape, and white space except U+0020. Prevents names that look the same. */
const NOT_PRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]|(?! )\p{Zs}/u;

/** Returns the name in NFC: `é` as one code point and as two is one name. */
export function normalizeName(name: string): string {
  return name.normalize('NFC');
}

export function isClientName(value: string): boolean {
  const isShort = value.length > 0 && Array.from(value).length <= 100;
  return isShort && value.isWellFormed() && !/^ | $| {2}/.test(value) && !NOT_PRINTABLE.test(value) && value === normalizeName(value);
}
