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

/** Adds demo animals, all or none; a million takes seconds. `onProgress` hears how many were sent. */
export async function seedPets(databaseUrl: SecretUrl, options: SeedOptions, onProgress: (sent: number) => void): Promise<SeededPets> {
  const seeded: SeededPets = { available: 0, pending: 0, sold: 0 };
  const client = new DatabaseClient({
    url: databaseUrl,
    application_name: 'animal-store seed',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A lost connection also fails the statement that is under way, and that is where it is reported.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const copy = client.query(copyFrom('COPY pets.pets (name, category_id, status) FROM STDIN'));
    await pipeline(Readable.from(copyLines(options, seeded, onProgress)), copy);
    // Gives the planner its figures now, and spares the first readers the work that autovacuum would do behind their backs.
    await client.query('VACUUM (ANALYZE) pets.pets');
    return seeded;
  } finally {
    await client.end();
  }
}

/** The text format of COPY; nothing in a demo name needs escaping. */
function* copyLines(options: SeedOptions, seeded: SeededPets, onProgress: (sent: number) => void): Generator<string> {
  const pets = demoPets(options);
  for (let sent = 0; sent < options.count;) {
    let lines = '';
    const end = Math.min(sent + ROWS_PER_CHUNK, options.count);
    for (; sent < end; sent++) {
      const { name, categoryId, status } = pets.next().value;
      seeded[status]++;
      lines += `${name}\t${String(categoryId)}\t${status}\n`;
    }
    yield lines;
    onProgress(sent);
  }
}
