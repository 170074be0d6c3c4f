import { createDataSource, type Persistence } from '@animal-store/database';
import { afterAll, beforeAll } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createMigratedDatabase } from './migrated-database.js';

export interface SpecDatabase {
  /** There from `beforeAll` on, as all else. */
  readonly dataSource: DataSource;
  readonly url: string;
  /** Takes every row out of the context's tables, and numbers them from the beginning again. */
  empty(): Promise<void>;
}

/** A migrated database of the spec file's own for the context; its connections end with the file. */
export function useDatabase(persistence: Persistence): SpecDatabase {
  const database = { empty } as { -readonly [Name in keyof SpecDatabase]: SpecDatabase[Name] };
  let close = (): Promise<void> => Promise.resolve();

  beforeAll(async () => {
    const created = await createMigratedDatabase([persistence]);
    const { url } = created;
    database.url = url;
    database.dataSource = createDataSource({ url, applicationName: 'spec', poolSize: 10, persistence: [persistence] });
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
