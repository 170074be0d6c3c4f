import { crc32 } from 'node:zlib';

/**
 * Version of the cursor format. A cursor is the Base64url form of the version (1 byte), the last identifier (8 bytes), and the CRC-32 of
 * the version, the identifier and the filters (4 bytes). All are big-endian.
 */
const FORMAT = 2;
const ID_AT = 1;
const CRC_AT = 9;
const BYTES = 13;
/** The last four bits of the last character are unused, and zero. */
const CURSOR = /^[\w-]{17}[AQgw]$/;

/** Reused for every cursor. */
const bytes = Buffer.alloc(BYTES);
const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES);
view.setUint8(0, FORMAT);

/** How the cursors of a list are written. A list whose cursors change accepts those of the previous release, and issues what that one accepts. */
export interface CursorFormat {
  /** Returns the cursor of the page after this identifier. `filters` is a query string such as `&status=sold`. Opaque to clients. */
  encode(after: bigint, filters: string): string;
  /** Returns whether `encode` of this or of the previous release made the text for these filters. */
  accepts(text: unknown, filters: string): text is string;
  /** Returns the identifier after which the page begins. Requires an accepted text. */
  decode(cursor: string): bigint;
}

/** The schema of a cursor in the OpenAPI document. It leaves the length open because it may change in a later release. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

export const CURSORS: CursorFormat = {
  encode(after, filters) {
    view.setBigInt64(ID_AT, after);
    view.setUint32(CRC_AT, checksum(after, filters));
    return bytes.toString('base64url');
  },
  accepts(text, filters): text is string {
    if (typeof text !== 'string' || !CURSOR.test(text)) return false;
    const decoded = Buffer.from(text, 'base64url');
    return decoded[0] === FORMAT && decoded.readUInt32BE(CRC_AT) === checksum(decoded.readBigInt64BE(ID_AT), filters);
  },
  decode: (cursor) => Buffer.from(cursor, 'base64url').readBigInt64BE(ID_AT),
};

function checksum(after: bigint, filters: string): number {
  return crc32(`${String(FORMAT)} ${String(after)}${filters}`);
}
