import { crc32 } from 'node:zlib';
import { type OrderValue, parseInt64, type Position } from '@animal-store/kernel';

/**
 * Version of the format of a list by identifier. A cursor is the Base64url form of the version (1 byte), the last identifier (8 bytes), and
 * the CRC-32 of the version, the identifier and the filters (4 bytes). All are big-endian.
 */
const FORMAT = 1;
const ID_AT = 1;
const CRC_AT = 9;
const BYTES = 13;
/** The last four bits of the last character are unused, and zero. */
const CURSOR = /^[\w-]{17}[AQgw]$/;

/**
 * Version of the format of an ordered list. Before the CRC-32, which is that of the other bytes and the filters, such a cursor has the last
 * value as text.
 */
const ORDERED_FORMAT = 2;
const CRC_BYTES = 4;
/** Leaves room for filters in a URL of 4 KiB, the maximum of the service. 255 code points have at most 1,020 bytes. */
const MAX_VALUE_BYTES = 1_024;
const MAX_CURSOR_LENGTH = Math.ceil(((BYTES + MAX_VALUE_BYTES) * 4) / 3);

/** Reused for every cursor of a list by identifier. */
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

/** The type of a value that orders a list. */
export type SortType = 'int64' | 'integer' | 'text' | 'time';

/** Parses the text of a value. Returns undefined for a text that no value has, because anybody can compute a CRC-32. */
const PARSERS: Readonly<Record<SortType, (text: string) => OrderValue | undefined>> = {
  int64: parseInt64,
  integer: (text) => {
    const value = Number(parseInt64(text));
    return value === (value | 0) ? value : undefined;
  },
  // PostgreSQL cannot store U+0000.
  text: (text) => (text.includes('\0') ? undefined : text),
  time: (text) => {
    if (text === 'Infinity' || text === '-Infinity') return Number(text);
    const time = /^(?!0000)\d{4}-/.test(text) ? new Date(text) : undefined;
    return time?.toJSON() === text ? time : undefined;
  },
};

/**
 * Returns the cursor of the page after this position of an ordered list. `filters` include the order.
 * @throws RangeError if the value has more than 1,024 bytes
 */
export function encodePosition({ value, id }: Position, filters: string): string {
  const text = Buffer.from(value instanceof Date ? value.toISOString() : String(value));
  if (text.length > MAX_VALUE_BYTES)
    throw new RangeError(
      `A text that orders a list must have at most ${String(MAX_VALUE_BYTES)} bytes, but that of ${String(id)} is longer.`,
    );
  const cursor = Buffer.alloc(BYTES + text.length);
  cursor.writeUInt8(ORDERED_FORMAT);
  cursor.writeBigInt64BE(id, ID_AT);
  text.copy(cursor, CRC_AT);
  cursor.writeUInt32BE(positionChecksum(cursor, filters), cursor.length - CRC_BYTES);
  return cursor.toString('base64url');
}

/** Returns the position, or undefined unless `encodePosition` made the text for these filters and a value of the type. */
export function decodePosition(text: unknown, filters: string, type: SortType): Position | undefined {
  if (typeof text !== 'string' || text.length > MAX_CURSOR_LENGTH) return undefined;
  const cursor = Buffer.from(text, 'base64url');
  const isValid =
    cursor.length >= BYTES &&
    cursor[0] === ORDERED_FORMAT &&
    cursor.readUInt32BE(cursor.length - CRC_BYTES) === positionChecksum(cursor, filters) &&
    // Base64url ignores other characters.
    cursor.toString('base64url') === text;
  if (!isValid) return undefined;
  const bytesOfValue = cursor.subarray(CRC_AT, -CRC_BYTES);
  const decoded = bytesOfValue.toString();
  const value = Buffer.from(decoded).equals(bytesOfValue) ? PARSERS[type](decoded) : undefined;
  return value === undefined ? undefined : { value, id: cursor.readBigInt64BE(ID_AT) };
}

function positionChecksum(cursor: Buffer, filters: string): number {
  return crc32(filters, crc32(cursor.subarray(0, -CRC_BYTES)));
}
