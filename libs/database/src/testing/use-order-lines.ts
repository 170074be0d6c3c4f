import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { BatchedRepository, type NewRow } from '../batching/batched-repository.js';
import type { StatementInterceptor } from '../connection/statement.js';
import { Database, type DatabaseOptions } from '../database.js';
import { migrateUp } from '../migrations/migrations.js';
import { OrderLineEntity, OrderLineKeyEntity, shop } from './order-lines.js';

type Repository = BatchedRepository<OrderLineEntity>;

/** A database with order lines for the specs of a file, on a server with odd settings. It is emptied before each spec. */
export function useOrderLines() {
  let database: TestDatabase;
  let dataSource: Database;
  let shardedSource: Database;
  let first: Repository;
  let second: Repository;
  let sharded: Repository;
  let restore: () => void = () => undefined;
  const open = (options: Partial<DatabaseOptions> = {}): Promise<Database> =>
    new Database({ url: database.url, applicationName: 'spec', poolSize: 6, persistence: [shop], ...options }).initialize();

  beforeAll(async () => {
    database = await createTestDatabase();
    await setOddSettings(database.url);
    [dataSource, shardedSource] = [await open(), await open({ citus: true })];
    await migrateUp(dataSource);
    const repositoryOf = (source: Database) =>
      new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    [first, second, sharded] = [repositoryOf(dataSource), repositoryOf(dataSource), repositoryOf(shardedSource)];
  });
  beforeEach(() => dataSource.query('TRUNCATE shop."Order lines", shop.order_line_keys'));
  afterEach(() => {
    restore();
  });
  afterAll(async () => {
    await Promise.all([dataSource.destroy(), shardedSource.destroy()]);
    await database.drop();
  });

  return {
    open,
    get dataSource(): Database {
      return dataSource;
    },
    /** The repositories of two processes that share only the database. */
    get first(): Repository {
      return first;
    },
    get second(): Repository {
      return second;
    },
    /** Uses the statements for tables that Citus distributes. PostgreSQL executes them as well. */
    get sharded(): Repository {
      return sharded;
    },
    insert: async (row: NewRow<OrderLineEntity>) => (await first.add(row)).result,
    all: async () => (await first.page({}, { limit: 100 })).items.map(({ key }) => key),
    /** Records the names of the executed statements until the next recording, or the end of the spec. */
    recordStatements: (isSharded = false): readonly string[] => {
      restore();
      const { pool } = isSharded ? shardedSource : dataSource;
      const seen: string[] = [];
      const interceptor: StatementInterceptor = ({ name = '' }, run) => {
        seen.push(name);
        return run();
      };
      Object.assign(pool, { interceptor });
      restore = () => Object.assign(pool, { interceptor: undefined });
      return seen;
    },
  };
}
