import { crc32 } from 'node:zlib';

/**
 * Version of the cursor format. A cursor is the Base64url form of the version (1 byte), the last identifier (8 bytes), and the CRC-32 of
 * the version, the identifier and the filters (4 bytes). All are big-endian.
 */
const FORMAT = 1;
const ID_AT = 1;
const CRC_AT = 9;
const BYTES = 13;
/** The last four bits of the last character are unused, and zero. */
const CURSOR = /^[\w-]{17}[AQgw]$/;

/** Reused for every cursor. */
const bytes = Buffer.alloc(BYTES);
const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES);
view.setUint8(0, FORMAT);

/** The schema of a cursor in the OpenAPI document. It leaves the length open, so that it may change. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

/** Returns the cursor of the page after this identifier. `filters` is a query string such as `&status=sold`. Opaque to clients. */
export function encodeCursor(after: bigint, filters: string): string {
  view.setBigInt64(ID_AT, after);
  view.setUint32(CRC_AT, checksum(after, filters));
  return bytes.toString('base64url');
}

/** Returns whether `encodeCursor` made the text for these filters. */
export function acceptsCursor(text: unknown, filters: string): text is string {
  if (typeof text !== 'string' || !CURSOR.test(text)) return false;
  const decoded = Buffer.from(text, 'base64url');
  return decoded[0] === FORMAT && decoded.readUInt32BE(CRC_AT) === checksum(decoded.readBigInt64BE(ID_AT), filters);
}

/** Returns the identifier after which the page begins. Requires an accepted text. */
export const decodeCursor = (cursor: string): bigint => Buffer.from(cursor, 'base64url').readBigInt64BE(ID_AT);

function checksum(after: bigint, filters: string): number {
  return crc32(`${String(FORMAT)} ${String(after)}${filters}`);
}
