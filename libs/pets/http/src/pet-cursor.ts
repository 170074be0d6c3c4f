import { crc32 } from 'node:zlib';
import { PET_STATUSES, type PetId, type PetStatus } from '@animal-store/pets-domain';

/** Base64url of: one byte format, one byte status (0 is none), eight bytes of the last identifier, four bytes CRC-32, big-endian. */
const FORMAT = 1;
const CRC_AT = 10;
const BYTES = 14;
const CURSOR = /^[A-Za-z0-9_-]{19}$/;

export function encodePetCursor(after: PetId, status: PetStatus | undefined): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeUInt8(FORMAT, 0);
  bytes.writeUInt8(statusByte(status), 1);
  bytes.writeBigInt64BE(after, 2);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes.toString('base64url');
}

/** The identifier after which the page begins; undefined for anything that `encodePetCursor` did not make for this status. */
export function decodePetCursor(cursor: unknown, status: PetStatus | undefined): PetId | undefined {
  if (typeof cursor !== 'string' || !CURSOR.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes[0] !== FORMAT || bytes[1] !== statusByte(status)) return undefined;
  const after = bytes.readBigInt64BE(2) as PetId;
  // The checksum, and the two unused bits of the last character, have to be ours as well.
  return encodePetCursor(after, status) === cursor ? after : undefined;
}

function statusByte(status: PetStatus | undefined): number {
  return status === undefined ? 0 : PET_STATUSES.indexOf(status) + 1;
}
