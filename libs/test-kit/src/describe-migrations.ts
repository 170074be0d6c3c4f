import { Database, migrateUp, migrationStatus, type Persistence } from '@animal-store/database';
import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { missingForLists } from './list-indexes.js';
import { breakingChanges, readSchema, unlimitedChanges } from './schema-changes.js';
import { undeclaredConstraints } from './unique-values.js';

const PROCESSES = 4;

interface MigrationOptions {
  /** Changes that the release before them supports, in the words of the failure, such as `pets.pets.colour is dropped or renamed`. */
  readonly preparedChanges?: readonly string[];
}

/** Tests for the migrations of a context. */
export function describeMigrations(persistence: Persistence, { preparedChanges = [] }: MigrationOptions = {}): void {
  const { schema, migrations } = persistence;
  const names = migrations.map(({ name }) => name);

  describe(`the migrations of the schema ${schema}`, () => {
    it('have names that end in a timestamp, and are in the order of application', () => {
      expect(names.filter((name) => !/^[A-Z][A-Za-z0-9]*?[0-9]{13}$/.test(name))).toEqual([]);
      const timestamps = names.map((name) => name.slice(-13));
      expect(timestamps).toEqual([...new Set(timestamps)].sort());
    });

    describe('in PostgreSQL', () => {
      let database: TestDatabase;
      let dataSource: Database;

      beforeAll(async () => {
        database = await createTestDatabase();
        await setOddSettings(database.url);
        dataSource = await connect();
      });

      afterEach(async () => {
        await dataSource.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
        await dataSource.query('DROP TABLE IF EXISTS public.schema_migrations');
      });

      afterAll(async () => {
        await dataSource.destroy();
        await database.drop();
      });

      const connect = () =>
        new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [persistence] }).initialize();

      const relations = () =>
        dataSource.query<{ schema: string; name: string; columns: string | null; isValid: boolean | null }[]>(
          `SELECT nspname AS schema, relname AS name, string_agg(attname, ' ' ORDER BY attnum) AS columns, indisvalid AS "isValid"
         FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
         LEFT JOIN pg_index ON indexrelid = pg_class.oid
         WHERE nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'public')
         GROUP BY nspname, relname, indisvalid ORDER BY 1, 2`,
        );

      it('can be applied once, and change only their own schema', async () => {
        expect(await migrateUp(dataSource)).toEqual(names);
        expect(await migrateUp(dataSource)).toEqual([]);
        expect(await migrationStatus(dataSource)).toEqual(names.map((name) => ({ name, applied: true })));
        const created = await relations();
        expect(new Set(created.map((relation) => relation.schema))).toEqual(new Set([schema]));
        expect(created.filter(({ isValid }) => isValid === false)).toEqual([]);
      });

      it('create times with the precision of their entities', async () => {
        await migrateUp(dataSource);
        const types = new Map((await readSchema(dataSource, schema)).columns.map(({ name, type }) => [name, type]));
        const times = dataSource.entityMetadatas.flatMap(({ tablePath, columns }) =>
          columns
            .filter((column) => dataSource.driver.normalizeType(column) === 'timestamp with time zone')
            .map(({ databaseName, precision }) => [`${tablePath}.${databaseName}`, precision === 3 ? '(3)' : ''] as const),
        );
        for (const [name, precision] of times) expect([name, types.get(name)]).toEqual([name, `timestamp${precision} with time zone`]);
      });

      // A batch avoids the errors of these constraints, and their deadlocks.
      it('create the unique and exclusion constraints that the entities declare', async () => {
        await migrateUp(dataSource);
        expect(await undeclaredConstraints(dataSource)).toEqual([]);
      });

      it('create the index of each declared list', async () => {
        await migrateUp(dataSource);
        expect(await missingForLists(dataSource, persistence)).toEqual([]);
      });

      it('are applied while the previous release runs, which neither fails nor waits', async () => {
        const unused = new Set(preparedChanges);
        for (const [index, Migration] of migrations.entries()) {
          const before = await readSchema(dataSource, schema);
          const statements: string[] = [];
          const next = await new Database({
            url: database.url,
            applicationName: 'spec',
            poolSize: 1,
            persistence: [{ ...persistence, migrations: migrations.slice(0, index + 1) }],
            interceptor: (statement, run) => (statements.push(statement.text), run()),
          }).initialize();
          try {
            expect(await migrateUp(next)).toEqual([Migration.name]);
          } finally {
            await next.destroy();
          }
          const isTransaction = new Migration().transaction !== false;
          const after = await readSchema(dataSource, schema);
          const changes = await breakingChanges(dataSource, { before, after, statements, isTransaction });
          const problems = [...changes.filter((change) => !preparedChanges.includes(change)), ...unlimitedChanges(statements)];
          if (problems.length > 0)
            throw new Error(`${Migration.name}:\n${problems.join('\n')}\nSee the recipes in docs/adding-a-context.md#migrations`);
          for (const change of changes) unused.delete(change);
        }
        expect([...unused]).toEqual([]);
      });

      it('are applied once by several concurrent processes', async () => {
        const processes = await Promise.all(Array.from({ length: PROCESSES }, connect));
        const applied = await Promise.all(processes.map((process) => migrateUp(process)));
        expect(applied.flat()).toEqual(names);
        await Promise.all(processes.map((process) => process.destroy()));
      });
    });
  });
}
