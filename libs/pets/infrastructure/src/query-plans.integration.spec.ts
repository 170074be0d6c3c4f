import { Database } from '@animal-store/database';
import { PET_STATUSES, PetStatus } from '@animal-store/pets-domain';
import { aNewPet } from './testing/pet-builder.js';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { petsPersistence } from './pets-persistence.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Filter?: string;
  readonly 'Total Cost': number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** One row in 10,000 has this status, and none is sold. */
const RARE = PetStatus.Pending;
/** An index scan of a page of adjacent rows. A scan of the table reads far more blocks. */
const MAX_BLOCKS = 50;
/** An index scan of one row. */
const MAX_BLOCKS_OF_ONE = 6;
/** An index scan of a page of scattered rows. */
const MAX_BLOCKS_OF_RARE = 150;
/** Independent of the size of the table. Above a cost of 100,000, PostgreSQL uses JIT compilation, which takes far longer than reading the page. */
const MAX_COST = 500;

/** Creates a migrated database without autovacuum, which would change the statistics. */
async function createDatabase(): Promise<Awaited<ReturnType<typeof createMigratedDatabase>>> {
  const database = await createMigratedDatabase([petsPersistence]);
  await connected(database, (dataSource) => dataSource.query('ALTER TABLE pets.pets SET (autovacuum_enabled = false)'));
  return database;
}

/** Runs `work` with a single connection, which has all prepared statements. */
async function connected(database: { readonly url: string }, work: (dataSource: Database) => Promise<unknown>): Promise<void> {
  const dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence: [petsPersistence] });
  await dataSource.initialize();
  try {
    await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

async function fill(dataSource: Database, rows: number): Promise<void> {
  await dataSource.query(
    `INSERT INTO pets.pets (name, category_id, status)
     SELECT 'pet ' || n, n % 100, CASE WHEN n % 10000 = 0 THEN '${RARE}' ELSE 'available' END FROM generate_series(1, $1::int) AS n`,
    [rows],
  );
}

/** Executes the statements as the service does, often enough for PostgreSQL to choose a plan. */
async function sendAll(dataSource: Database): Promise<void> {
  const repository = new TypeOrmPetRepository(dataSource);
  for (let execution = 0; execution < 10; execution++) {
    // The first one runs alone, the others share a statement.
    await Promise.all([1, 2, 3].map((id) => repository.find(BigInt(id))));
    await repository.list({}, { limit: 20 });
    for (const status of PET_STATUSES) await repository.list({ status }, { limit: 20 });
    await repository.list({ id: BigInt(execution) }, { limit: 20 });
    await repository.list({ id: BigInt(execution), status: RARE }, { limit: 20 });
    await repository.add(aNewPet(), { clientId: 1n, key: 'plans' });
  }
}

type Value = bigint | number | string;

/** The labels of the prepared statements, in SQL: the names without the hash. */
const LABEL = `regexp_replace(name, '^\\S+ ', '')`;

async function explain(dataSource: Database, label: string, ...parameters: readonly (bigint | readonly Value[])[]): Promise<Plan> {
  const values = parameters.map((parameter) => (typeof parameter === 'bigint' ? parameter : `'{${parameter.join()}}'`)).join();
  const [{ name = '' } = {}] = await dataSource.query<{ name?: string }[]>(`SELECT name FROM pg_prepared_statements WHERE ${LABEL} = $1`, [
    label,
  ]);
  const [row] = await dataSource.query<[{ 'QUERY PLAN': [{ Plan: Plan; JIT?: object }] }]>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE "${name}"(${values})`,
  );
  const [{ Plan: plan, JIT: jit }] = row['QUERY PLAN'];
  expect(jit).toBeUndefined();
  return plan;
}

function nodes(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
}

/** Verifies that the plan only scans the index, in its order, and reads few blocks. */
function expectIndexOnly(plan: Plan, index: string, maxBlocks = MAX_BLOCKS): void {
  const reading = nodes(plan).filter((node) => node['Relation Name'] !== undefined);
  expect(reading.map((node) => [node['Node Type'], node['Index Name'], node.Filter])).toEqual([['Index Scan', index, undefined]]);
  expect(nodes(plan).map((node) => node['Node Type'])).not.toContain('Sort');
  expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(maxBlocks);
  expect(plan['Total Cost']).toBeLessThan(MAX_COST);
}

async function expectListsToWalkOneIndex(dataSource: Database, rows: number): Promise<void> {
  for (const start of [-(2n ** 63n), 0n, BigInt(rows / 2), BigInt(rows - 10), 2n ** 63n - 1n]) {
    expectIndexOnly(await explain(dataSource, 'list pets.pets', [start], [101]), 'pets_pkey');
    for (const status of PET_STATUSES) {
      const plan = await explain(dataSource, 'list pets.pets by status', [status], [start], [101]);
      expectIndexOnly(plan, 'pets_status_id_idx', status === RARE ? MAX_BLOCKS_OF_RARE : MAX_BLOCKS);
    }
  }
  const several = await explain(dataSource, 'list pets.pets by status', [RARE, 'available', 'sold'], [0n, 50_000n, 7n], [3, 21, 101]);
  expectIndexOnly(several, 'pets_status_id_idx');
}

const ROWS = 100_000;
describe('the statements of a catalogue of 100,000 pets', () => {
  const middle = BigInt(ROWS / 2);
  const found = BigInt(Math.floor(ROWS * 0.777));
  let database: Awaited<ReturnType<typeof createMigratedDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
  });

  afterAll(async () => {
    await database.drop();
  });

  it('scan one index with plans that were made when the table was empty', async () => {
    await connected(database, async (dataSource) => {
      await sendAll(dataSource);
      await fill(dataSource, ROWS);
      await dataSource.query(`INSERT INTO pets.idempotency_keys SELECT n % 100, n, n, '{}' FROM generate_series(1, 20000) AS n`);
      await expectListsToWalkOneIndex(dataSource, ROWS);
      const find = await explain(dataSource, 'find pets.pets', [found, 1n, middle]);
      expect(nodes(find).flatMap((node) => node['Index Name'] ?? [])).toEqual(['pets_pkey']);
      expect(find['Shared Hit Blocks'] + find['Shared Read Blocks']).toBeLessThan(MAX_BLOCKS);
      expectIndexOnly(await explain(dataSource, 'find one pets.pets', found), 'pets_pkey', MAX_BLOCKS_OF_ONE);
      expectIndexOnly(await explain(dataSource, 'find by key pets.pets', [1n, 2n], ['1', '2']), 'idempotency_keys_pkey');
      const insert = await explain(dataSource, 'insert once pets.pets', [1n, 2n], ['1', 'new'], ['Rex', 'Tom'], [1n, 1n], ['sold', 'sold']);
      expect(nodes(insert).flatMap((node) => node['Index Name'] ?? [])).toEqual(['idempotency_keys_pkey']);
      await dataSource.query('ANALYZE pets.pets');
    });
  });

  it.each(['force_generic_plan', 'force_custom_plan', 'auto'])('scan one index (%s)', async (mode) => {
    await connected(database, async (dataSource) => {
      await dataSource.query('SET jit = on');
      await dataSource.query(`SET plan_cache_mode = ${mode}`);
      await sendAll(dataSource);
      await expectListsToWalkOneIndex(dataSource, ROWS);
      expectIndexOnly(await explain(dataSource, 'find pets.pets', [found, 1n, middle]), 'pets_pkey');
      expectIndexOnly(await explain(dataSource, 'find one pets.pets', found), 'pets_pkey', MAX_BLOCKS_OF_ONE);
    });
  });

  it.each([
    ['an identifier', {}],
    ['an identifier and a status', { status: PetStatus.Available }],
  ])('use only the primary key to list by %s', async (_what, filter) => {
    await connected(database, async (dataSource) => {
      const { items } = await new TypeOrmPetRepository(dataSource).list({ id: found, ...filter }, { limit: 20 });
      expect(items).toMatchObject([{ id: found, name: expect.stringMatching(/^pet /) }]);
      expect(await dataSource.query(`SELECT ${LABEL} AS name FROM pg_prepared_statements`)).toEqual([{ name: 'find one pets.pets' }]);
      const plan = await explain(dataSource, 'find one pets.pets', found);
      expectIndexOnly(plan, 'pets_pkey', MAX_BLOCKS_OF_ONE);
    });
  });

  it('have generic plans even for a few rows', async () => {
    await connected(database, async (dataSource) => {
      await sendAll(dataSource);
      const repository = new TypeOrmPetRepository(dataSource);
      for (let execution = 0; execution < 10; execution++) {
        await repository.add(aNewPet(), { clientId: 1n, key: String(execution) });
        await Promise.all([1, 2, 3].map(() => repository.add(aNewPet())));
      }
      const statements = await dataSource.query<{ name: string; custom_plans: bigint }[]>(
        `SELECT ${LABEL} AS name, custom_plans FROM pg_prepared_statements WHERE ${LABEL} ~ '^(find|list|insert)' ORDER BY 1`,
      );
      const finds = ['find by key pets.pets', 'find one pets.pets', 'find pets.pets'];
      const inserts = ['insert once pets.pets', 'insert one pets.pets', 'insert pets.pets'];
      const names = [...finds, ...inserts, 'list pets.pets', 'list pets.pets by status'];
      expect(statements.map(({ name }) => name)).toEqual(names);
      // PostgreSQL makes five custom plans before it compares them with a generic one.
      expect(statements.filter(({ custom_plans }) => custom_plans > 5n)).toEqual([]);
    });
  });
});
