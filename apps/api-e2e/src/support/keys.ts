import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Client } from 'pg';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
/** Random characters in the prefix of a key. */
const VISIBLE_LENGTH = 6;

export const ALL_PETS: readonly string[] = ['pets:read', 'pets:write'];

/** Returns the checksum of a key: the CRC-32 of the preceding characters as six Base62 characters. */
export function checksumOf(precedes: string): string {
  let rest = crc32(precedes);
  let text = '';
  for (; rest > 0; rest = Math.floor(rest / BASE62.length)) text = `${BASE62[rest % BASE62.length]}${text}`;
  return text.padStart(CHECKSUM_LENGTH, BASE62[0]);
}

export function withoutChecksum(key: string): string {
  return key.slice(0, -CHECKSUM_LENGTH);
}

/** Returns a key of the same environment that was never issued, with a valid checksum. */
export function unknownKey(key: string): string {
  return newKey(/^ast_[a-z0-9]+_/.exec(key)?.[0] ?? '');
}

export interface CreatedKey {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
}

/**
 * Inserts a key of the client and returns it. Adds the client if it does not exist. `createKey` tests the command line; this function only
 * saves the time to start it.
 */
export async function insertKey(databaseUrl: string, client: string, scopes: readonly string[] = ALL_PETS): Promise<CreatedKey> {
  const key = newKey('ast_production_');
  const prefix = key.slice(0, VISIBLE_LENGTH - RANDOM_LENGTH - CHECKSUM_LENGTH);
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ id: string }>(
      `WITH client AS (
         INSERT INTO access.clients (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id
       )
       INSERT INTO access.api_keys (client_id, hash, prefix, scopes, created_at) SELECT id, $2, $3, $4, now() FROM client
       RETURNING id`,
      [client, hash('sha256', key, 'buffer'), prefix, scopes],
    );
    return { id: Number(rows[0]?.id), key, prefix };
  } finally {
    await database.end();
  }
}

function newKey(environment: string): string {
  const precedes = environment + Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
  return precedes + checksumOf(precedes);
}

/** Returns the key with one character replaced. `index` is negative and counts from the end. */
export function withTypo(key: string, index: number): string {
  const at = key.length + index;
  return key.slice(0, at) + (key[at] === 'a' ? 'b' : 'a') + key.slice(at + 1);
}
