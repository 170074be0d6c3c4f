import { crc32 } from 'node:zlib';
import { type CursorFormat, CURSORS } from '@animal-store/http-contract';

/**
 * Format of release 1.0.0: the Base64url form of the format (1 byte), the status (1 byte, 0 without one), the last identifier (8 bytes), and
 * the CRC-32 of these bytes (4 bytes). All are big-endian.
 */
const FORMAT = 1;
const STATUS_AT = 1;
const ID_AT = 2;
const CRC_AT = 10;
const BYTES = 14;
const CURSOR = /^[\w-]{19}$/;
/** The filters of 1.0.0. Their position is the byte of the status. */
const FILTERS = ['', '&status=available', '&status=pending', '&status=sold'];

/**
 * Cursors that processes of 1.0.0 accept as well, because they run at the same time during an upgrade or a rollback. The next release
 * issues those of CURSORS.
 */
export const PET_CURSORS: CursorFormat = {
  encode(after, filters) {
    const status = FILTERS.indexOf(filters);
    if (status < 0) return CURSORS.encode(after, filters);
    const bytes = Buffer.allocUnsafe(BYTES);
    bytes[0] = FORMAT;
    bytes[STATUS_AT] = status;
    bytes.writeBigInt64BE(after, ID_AT);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
    return bytes.toString('base64url');
  },
  accepts(text, filters): text is string {
    if (typeof text !== 'string' || !CURSOR.test(text)) return CURSORS.accepts(text, filters);
    return FILTERS.includes(filters) && PET_CURSORS.encode(idOf(text), filters) === text;
  },
  decode: (cursor) => (CURSOR.test(cursor) ? idOf(cursor) : CURSORS.decode(cursor)),
};

const idOf = (cursor: string) => Buffer.from(cursor, 'base64url').readBigInt64BE(ID_AT);
