import { Database, type Persistence } from '@animal-store/database';
import { afterAll, beforeAll } from '@jest/globals';
import { createMigratedDatabase } from './migrated-database.js';

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
