import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatabaseClient, type SecretUrl } from '@animal-store/database';
import { from as copyFrom } from 'pg-copy-streams';
import { demoPets, type DemoOptions, type DemoPet } from './demo-pets.js';

const ROWS_PER_CHUNK = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

export interface SeedOptions extends DemoOptions {
  readonly count: number;
}

export type SeededPets = Record<DemoPet['status'], number>;

/** Inserts demo pets in one statement, all or none. Calls `onProgress` with the number of pets sent so far. */
export async function seedPets(databaseUrl: SecretUrl, options: SeedOptions, onProgress: (sent: number) => void): Promise<SeededPets> {
  const seeded: SeededPets = { available: 0, pending: 0, sold: 0 };
  const client = new DatabaseClient({
    url: databaseUrl,
    application_name: 'animal-store seed',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A lost connection also fails the running statement, which reports it.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const copy = client.query(copyFrom('COPY pets.pets (name, category_id, status) FROM STDIN'));
    await pipeline(Readable.from(copyLines(options, seeded, onProgress)), copy);
    // Vacuums and updates the planner statistics now instead of waiting for autovacuum.
    await client.query('VACUUM (ANALYZE) pets.pets');
    return seeded;
  } finally {
    await client.end();
  }
}

/** Yields lines in the text format of COPY. Demo names need no escaping. */
function* copyLines(options: SeedOptions, seeded: SeededPets, onProgress: (sent: number) => void): Generator<string> {
  const pets = demoPets(options);
  for (const chunk of Array(Math.ceil(options.count / ROWS_PER_CHUNK)).keys()) {
    const sent = chunk * ROWS_PER_CHUNK;
    const rows = Math.min(ROWS_PER_CHUNK, options.count - sent);
    yield Array.from({ length: rows }, () => {
      const { name, categoryId, status } = pets.next().value;
      seeded[status]++;
      return `${name}\t${String(categoryId)}\t${status}\n`;
    }).join('');
    onProgress(sent + rows);
  }
}
