import { crc32 } from 'node:zlib';
import { type OrderValue, parseInt64, type Position } from '@animal-store/kernel';

/**
 * A cursor is the Base64url form of the version of this format (1 byte), the last identifier (8 bytes), the last value as text if another column
 * orders the list, and the CRC-32 of these and the filters, and of these and the URL of the list (4 bytes each). The integers are big-endian.
 */
const FORMAT = 1;
const ID_AT = 1;
const VALUE_AT = 9;
const FILTERS_CRC_FROM_END = 8;
const LIST_CRC_FROM_END = 4;
const MIN_BYTES = VALUE_AT + FILTERS_CRC_FROM_END;
/** Leaves room for filters in a URL of 4 KiB, the maximum of the service. 255 code points have at most 1,020 bytes. */
const MAX_VALUE_BYTES = 1_024;
const MAX_LENGTH = Math.ceil(((MIN_BYTES + MAX_VALUE_BYTES) * 4) / 3);

/** The schema of a cursor in the OpenAPI document. It leaves the length open, so that it may change. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

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
 * Returns the cursor of the page after a position. Opaque to clients.
 * @param url of the list, which includes the parent of a nested one
 * @param filters a query string such as `&status=sold`, which includes the order
 * @throws RangeError if the value has more than 1,024 bytes
 */
export function encodeCursor({ id, value = '' }: Position, url: string, filters: string): string {
  const text = Buffer.from(value instanceof Date ? value.toISOString() : String(value));
  if (text.length > MAX_VALUE_BYTES)
    throw new RangeError(
      `A text that orders a list must have at most ${String(MAX_VALUE_BYTES)} bytes, but that of ${String(id)} is longer.`,
    );
  const cursor = Buffer.alloc(MIN_BYTES + text.length);
  cursor.writeUInt8(FORMAT);
  cursor.writeBigInt64BE(id, ID_AT);
  text.copy(cursor, VALUE_AT);
  const sum = checksum(cursor);
  cursor.writeUInt32BE(crc32(filters, sum), cursor.length - FILTERS_CRC_FROM_END);
  cursor.writeUInt32BE(crc32(url, sum), cursor.length - LIST_CRC_FROM_END);
  return cursor.toString('base64url');
}

/** A cursor that was received. */
export class Cursor {
  private readonly sum: number;

  private constructor(private readonly bytes: Buffer) {
    this.sum = checksum(bytes);
  }

  /** Returns a text that `encodeCursor` cannot have made, and what is no text, unchanged. */
  static parse(this: void, text: unknown): unknown {
    if (typeof text !== 'string' || text.length > MAX_LENGTH) return text;
    const bytes = Buffer.from(text, 'base64url');
    // Base64url ignores other characters.
    return bytes.length >= MIN_BYTES && bytes[0] === FORMAT && bytes.toString('base64url') === text ? new Cursor(bytes) : text;
  }

  /**
   * Returns whether `encodeCursor` made it for these filters and a value of the type.
   * @param type undefined for a list by identifier
   */
  isFor(filters: string, type?: SortType): boolean {
    const { bytes, sum } = this;
    if (bytes.readUInt32BE(bytes.length - FILTERS_CRC_FROM_END) !== crc32(filters, sum)) return false;
    return type ? valueOf(bytes, type) !== undefined : bytes.length === MIN_BYTES;
  }

  /** Returns the position of a cursor that `isFor` accepts, or undefined if it is one of a list at another URL. */
  positionAt(url: string, type?: SortType): Position | undefined {
    const { bytes, sum } = this;
    if (bytes.readUInt32BE(bytes.length - LIST_CRC_FROM_END) !== crc32(url, sum)) return undefined;
    return { id: bytes.readBigInt64BE(ID_AT), value: type && valueOf(bytes, type) };
  }
}

function valueOf(cursor: Buffer, type: SortType): OrderValue | undefined {
  const bytes = cursor.subarray(VALUE_AT, -FILTERS_CRC_FROM_END);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? PARSERS[type](text) : undefined;
}

/** The CRC-32 of what precedes the two of the cursor. */
function checksum(cursor: Buffer): number {
  return crc32(cursor.subarray(0, -FILTERS_CRC_FROM_END));
}
