import { crc32 } from 'node:zlib';

/**
 * Version of the cursor format. A cursor is the Base64url form of the version (1 byte), the last identifier (8 bytes), and the CRC-32 of
 * the version, the identifier and the filters (4 bytes). All are big-endian.
 */
const FORMAT = 2;
const CRC_AT = 9;
const BYTES = 13;
const CURSOR = /^[A-Za-z0-9_-]{18}$/;

/** The schema of a cursor in the OpenAPI document. It leaves the length open because it may change in a later release. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

/** The filters of a list by name. A cursor is valid only for the filters it was made for. */
export type Filters = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** Returns the filters as a query string such as `&status=sold`, sorted by name. Undefined filters are left out. */
export function toQueryString(filters: Filters): string {
  let text = '';
  for (const name of Object.keys(filters).sort()) {
    const value = filters[name];
    if (value !== undefined) text += `&${name}=${encodeURIComponent(String(value))}`;
  }
  return text;
}

/** Returns the cursor of the page after this identifier. Opaque to clients. */
export function encodeCursor(after: bigint, filters: string): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeUInt8(FORMAT, 0);
  bytes.writeBigInt64BE(after, 1);
  bytes.writeUInt32BE(crc32(`${String(FORMAT)} ${String(after)}${filters}`), CRC_AT);
  return bytes.toString('base64url');
}

/** Returns whether `encodeCursor` made the text for these filters. */
export function isCursor(text: unknown, filters: string): text is string {
  // Encoding again also checks the format, the checksum, and the unused bits of the last character.
  return typeof text === 'string' && CURSOR.test(text) && encodeCursor(decodeCursor(text), filters) === text;
}

/** Returns the identifier after which the page begins. Requires a text for which `isCursor` returned true. */
export function decodeCursor(cursor: string): bigint {
  return Buffer.from(cursor, 'base64url').readBigInt64BE(1);
}
