import { createHash } from 'node:crypto';
import { Database, migrateUp, type Persistence } from '@animal-store/database';
import { copyTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll } from '@jest/globals';

export interface SpecDatabase {
  /** Set in `beforeAll`, like `url`. */
  readonly dataSource: Database;
  readonly url: string;
  /** Truncates the context's tables and restarts their identifiers. */
  empty(): Promise<void>;
}

/** Creates a migrated database of the context for the spec file. Drops it after the last test. */
export function useDatabase(persistence: Persistence): SpecDatabase {
  const database = { empty } as { -readonly [Name in keyof SpecDatabase]: SpecDatabase[Name] };
  let close = (): Promise<void> => Promise.resolve();

  beforeAll(async () => {
    const created = await createMigratedDatabase([persistence]);
    const { url } = created;
    database.url = url;
    database.dataSource = new Database({ url, applicationName: 'spec', poolSize: 10, persistence: [persistence] });
    close = async () => {
      await database.dataSource.destroy();
      await created.drop();
    };
    await database.dataSource.initialize();
  });

  afterAll(() => close());

  async function empty(): Promise<void> {
    const tables = await database.dataSource.query<{ name: string }[]>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1`,
      [persistence.schema],
    );
    await database.dataSource.query(`TRUNCATE ${tables.map(({ name }) => name).join()} RESTART IDENTITY`);
  }

  return database;
}

/** Creates a database with the schemas of the contexts, without rows. */
export async function createMigratedDatabase(persistence: readonly Persistence[]): Promise<TestDatabase> {
  const database = await copyTestDatabase(`template_${hashOf(persistence)}`, async (url) => {
    const dataSource = new Database({ url, applicationName: 'spec', poolSize: 1, persistence });
    await dataSource.initialize();
    try {
      await migrateUp(dataSource);
    } finally {
      await dataSource.destroy();
    }
  });
  await setOddSettings(database.url);
  return database;
}

/** Distinguishes the templates of different contexts, and of different versions on a server that outlives the run. */
function hashOf(persistence: readonly Persistence[]): string {
  const hash = createHash('sha256');
  for (const { migrations } of persistence) for (const migration of migrations) hash.update(String(migration));
  return hash.digest('hex').slice(0, 16);
}
