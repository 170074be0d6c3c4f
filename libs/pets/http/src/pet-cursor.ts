import { PET_STATUSES, type PetId, type PetStatus } from '@animal-store/pets-domain';

/** Base64url of: one byte format, one byte status (0 is none), eight bytes of the last identifier, big-endian. */
const FORMAT = 1;
const BYTES = 10;
const CURSOR = /^[A-Za-z0-9_-]{14}$/;

export function encodePetCursor(after: PetId, status: PetStatus | undefined): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes.writeUInt8(FORMAT, 0);
  bytes.writeUInt8(statusByte(status), 1);
  bytes.writeBigInt64BE(after, 2);
  return bytes.toString('base64url');
}

/** The identifier after which the page begins; undefined for anything that `encodePetCursor` did not make for this status. */
export function decodePetCursor(cursor: unknown, status: PetStatus | undefined): PetId | undefined {
  if (typeof cursor !== 'string' || !CURSOR.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes[0] !== FORMAT || bytes[1] !== statusByte(status)) return undefined;
  const after = bytes.readBigInt64BE(2) as PetId;
  // The last character has two unused bits: only one of its four spellings is ours.
  return encodePetCursor(after, status) === cursor ? after : undefined;
}

function statusByte(status: PetStatus | undefined): number {
  return status === undefined ? 0 : PET_STATUSES.indexOf(status) + 1;
}
