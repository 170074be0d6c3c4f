import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatabaseClient, type SecretUrl } from '@animal-store/database';
import type { Command } from 'commander';
import { from as copyFrom } from 'pg-copy-streams';
import { integerParser, parseShare } from './arguments.js';
import { AS_OWNER, migrateIfLocal, withDatabase } from './database.js';
import { demoPets, type DemoOptions, type DemoPet } from './demo-pets.js';
import { CliError, EXIT_USAGE } from './failure.js';
import { jsonCommand, type JsonOption, toJson } from './output.js';
import { progressBar, type Terminal } from './terminal.js';

const MAX_COUNT = 1_000_000_000;
const ROWS_PER_CHUNK = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

interface Options extends DemoOptions, JsonOption {
  readonly count: number;
}

type SeededPets = Record<DemoPet['status'], number>;

export function addSeedCommand(program: Command, terminal: Terminal): void {
  jsonCommand(program, 'seed', 'Add demo animals. The same seed generates the same animals.', '--count 1000')
    .requiredOption('--count <n>', 'number of animals', integerParser(1, MAX_COUNT))
    .option('--seed <n>', 'seed of the generator', integerParser(0, 2 ** 32 - 1), 1)
    .option('--pending-share <share>', 'share of pending animals, from 0 to 1', parseShare, 0.0001)
    .option('--sold-share <share>', 'share of sold animals, from 0 to 1', parseShare, 0.2)
    .action(async ({ json = false, ...options }: Options) => {
      if (options.pendingShare + options.soldShare > 1)
        throw new CliError('--pending-share and --sold-share must not add up to more than 1', EXIT_USAGE);
      await withDatabase(terminal, AS_OWNER, async (database) => {
        await migrateIfLocal(database);
        const progress = progressBar(json ? { write: () => undefined } : terminal.stderr, options.count);
        const startedAt = performance.now();
        const byStatus = await seedPets(database.url, options, progress.update).finally(progress.clear);
        const seconds = (performance.now() - startedAt) / 1000;
        const counts = Object.entries(byStatus).map(([status, count]) => `${count.toLocaleString('en')} ${status}`);
        terminal.stdout.write(
          json
            ? toJson({ count: options.count, seed: options.seed, byStatus, seconds: Number(seconds.toFixed(3)) })
            : `Added ${options.count.toLocaleString('en')} pets in ${seconds.toFixed(1)} s: ${counts.join(', ')}.\n`,
        );
      });
    });
}

/** Inserts demo pets in one statement, all or none. Calls `onProgress` with the number of pets sent so far. */
async function seedPets(databaseUrl: SecretUrl, options: Options, onProgress: (sent: number) => void): Promise<SeededPets> {
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
function* copyLines(options: Options, seeded: SeededPets, onProgress: (sent: number) => void): Generator<string> {
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
