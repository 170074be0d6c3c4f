import { crc32 } from 'node:zlib';

/** Base64url of: one byte format, eight bytes of the last identifier, four bytes CRC-32 of both and of the filters, big-endian. */
const FORMAT = 2;
const CRC_AT = 9;
const BYTES = 13;
const CURSOR = /^[A-Za-z0-9_-]{18}$/;

/** The schema of a cursor in the OpenAPI document. It promises no more than this: the next release may write longer or shorter cursors. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

/** The filters of a list by name, and what a query string has of them: `&status=sold`. A cursor belongs to them. */
export type Filters = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** In one order, whatever the order of the query. A filter that is undefined is the same as none. */
export function toQueryString(filters: Filters): string {
  let text = '';
  for (const name of Object.keys(filters).sort()) {
    const value = filters[name];
    if (value !== undefined) text += `&${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

/** Opaque to clients: leads to the page after this identifier. */
export function encodeCursor(after: bigint, filters: string): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeUInt8(FORMAT, 0);
  bytes.writeBigInt64BE(after, 1);
  bytes.writeUInt32BE(crc32(`${String(FORMAT)} ${String(after)}${filters}`), CRC_AT);
  return bytes.toString('base64url');
}

/** The identifier after which the page begins; undefined for anything that `encodeCursor` did not make for these filters. */
export function decodeCursor(cursor: unknown, filters: string): bigint | undefined {
  if (typeof cursor !== 'string' || !CURSOR.test(cursor)) return undefined;
  const after = Buffer.from(cursor, 'base64url').readBigInt64BE(1);
  // The format, the checksum, and the unused bits of the last character have to be ours as well.
  return encodeCursor(after, filters) === cursor ? after : undefined;
}
