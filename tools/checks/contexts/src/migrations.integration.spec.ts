import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { contexts } from '@animal-store/api/contexts';
import { Database, migrateUp, type Persistence } from '@animal-store/database';
import { createTestDatabase, query, type TestDatabase } from '@animal-store/local-postgres/testing';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';

const RELEASES = join(import.meta.dirname, '../../../../docs/releases');

/** A recorded statement of the release. All statements run in order on a new database. */
interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

type Outcome = Readonly<Record<string, unknown>>;

const release = readdirSync(RELEASES)
  .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
  .at(-1) as string;
const read = (file: string): unknown => JSON.parse(readFileSync(join(RELEASES, release, file), 'utf8'));

const timestampOf = (name: string) => Number(name.slice(-13));
const all = contexts
  .flatMap(({ persistence }) => persistence.migrations)
  .sort((one, other) => timestampOf(one.name) - timestampOf(other.name));
const releasedTimes = new Set(Object.keys(read('migrations.json') as object).map((file) => Number(basename(file).slice(0, 13))));
const released = all.filter(({ name }) => releasedTimes.has(timestampOf(name)));
const later = all.filter((migration) => !released.includes(migration));

/** Replaces times that the database has set, which differ between two runs. */
const start = new Date();
const hideTime = (value: unknown) => (value instanceof Date && value >= start ? 'time of the run' : value);

/** Runs the statements of the release on a new database with these migrations, and returns their results. */
async function outcomeOn(migrations: Persistence['migrations']): Promise<Outcome> {
  const database = await createTestDatabase();
  const persistence = [{ schema: '', entities: [], migrations }];
  const dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence });
  const client = new Client({ connectionString: database.url });
  const outcome: Record<string, unknown> = {};
  try {
    await dataSource.initialize();
    expect(await migrateUp(dataSource)).toEqual(migrations.map(({ name }) => name));
    await client.connect();
    for (const { name, text, values } of read('statements.json') as readonly Statement[]) {
      const { rows, rowCount } = await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' }).catch((error: unknown) => {
        throw new Error(`"${name}" of release ${release} fails: ${(error as Error).message}`);
      });
      outcome[name] = { rows: rows.map((row) => row.map(hideTime)), rowCount };
    }
  } finally {
    await client.end();
    if (dataSource.isInitialized) await dataSource.destroy();
    await database.drop();
  }
  return outcome;
}

describe(`release ${release}`, () => {
  let expected: Outcome;
  beforeAll(async () => {
    expected = await outcomeOn(released);
  });

  it('has recorded statements that work on its own schema', () => {
    expect(released).toHaveLength(releasedTimes.size);
    expect(expected).toMatchObject({
      'authenticate, 1': { rowCount: 1 },
      'create a pet, 1': { rows: [['1']] },
      'find a pet, 1': { rowCount: 1 },
      'create pets once, 1': { rowCount: 1 },
      'create the same pets again, 1': { rowCount: 0 },
      'create the same pets again, 2': { rowCount: 1 },
      'delete expired idempotency keys, 1': { rowCount: 3 },
    });
  });

  if (later.length > 0) {
    // Promise (Migrations): After later migrations, the SQL statements of the newest release in `docs/releases` have the same results.
    it.each(later.map(({ name }, index) => [name, index] as const))('has the same results after %s', async (_name, index) => {
      expect(await outcomeOn([...released, ...later.slice(0, index + 1)])).toEqual(expected);
    });
  }
});

describe('text in indexes', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createMigratedDatabase(contexts.map(({ persistence }) => persistence));
  });
  afterAll(() => database.drop());

  // With another collation, an update of the operating system changes the order, and PostgreSQL then misses rows of the index.
  it('indexes on text have the collation "C"', async () => {
    expect(await indexesInLocale(database.url)).toEqual([]);
  });

  it('an index whose order depends on the locale is found', async () => {
    await query(
      database.url,
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.labels (name text PRIMARY KEY, code text COLLATE "C" UNIQUE, note text)',
      'CREATE INDEX notes ON shop.labels (code, note)',
      'CREATE INDEX lower_names ON shop.labels (lower(code), lower(name))',
      'CREATE INDEX exact_notes ON shop.labels (note COLLATE "C")',
    );
    expect(await indexesInLocale(database.url)).toEqual(['shop.labels_pkey (name)', 'shop.lower_names (lower(name))', 'shop.notes (note)']);
  });
});

/** Returns the columns of indexes whose order depends on the locale, such as `pets_name_idx (name)`. */
async function indexesInLocale(url: string): Promise<string[]> {
  const rows = await query<{ found: string }>(
    url,
    `SELECT format('%I.%I (%s)', nspname, relname, pg_get_indexdef(indexrelid, ordinal::int4, true)) AS found
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
     CROSS JOIN LATERAL unnest(indcollation) WITH ORDINALITY AS indexed (collation_oid, ordinal)
     JOIN pg_collation ON pg_collation.oid = collation_oid
     WHERE nspname NOT IN ('pg_catalog', 'pg_toast') AND collname <> 'C' ORDER BY 1`,
  );
  return rows.map(({ found }) => found.replaceAll('"', ''));
}
