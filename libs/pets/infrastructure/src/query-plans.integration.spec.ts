import { PET_STATUSES } from '@animal-store/pets-domain';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { petsPersistence } from './pets-persistence.js';
import { FIND_PETS, LIST_PETS, LIST_PETS_BY_STATUS } from './postgres-pet-catalogue.js';
import { FIND_BY_KEYS } from './postgres-pet-repository.js';

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

/** A walk down the index and a page of rows next to each other: far below what a scan of the table would touch. */
const MOST_BLOCKS = 40;
/** It must not grow with the table: above a cost of 100,000 PostgreSQL compiles a statement (JIT), which takes far longer than the page. */
const MOST_COST = 500;
const RARE = 'pending';

describe('the statements of the catalogue', () => {
  let database: Awaited<ReturnType<typeof createMigratedDatabase>>;
  let client: Client;

  beforeAll(async () => {
    database = await createMigratedDatabase([petsPersistence]);
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** Rows of one status each 10,000th, none of `sold`; `ALTER TABLE` keeps autovacuum from changing the statistics meanwhile. */
  async function fill(count: number): Promise<void> {
    await client.query(`ALTER TABLE pets.pets SET (autovacuum_enabled = false)`);
    await client.query(
      `INSERT INTO pets.pets (name, category_id, status)
       SELECT 'pet ' || n, n % 100, CASE WHEN n % 10000 = 0 THEN '${RARE}' ELSE 'available' END FROM generate_series(1, $1) AS n`,
      [count],
    );
  }

  async function explain(name: string, ...arrays: (number | bigint)[][]): Promise<Plan> {
    const values = arrays.map((array) => `'{${array.join()}}'`).join();
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name}(${values})`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (!plan) throw new Error('no plan');
    return plan;
  }

  function nodes(plan: Plan): Plan[] {
    return [plan, ...(plan.Plans ?? []).flatMap(nodes)];
  }

  /** Nothing is read but by the index, in its order, and what is read is answered. */
  function expectIndexOnly(plan: Plan, index: string): void {
    const reading = nodes(plan).filter((node) => node['Relation Name'] !== undefined);
    expect(reading.map((node) => [node['Node Type'], node['Index Name'], node.Filter])).toEqual([['Index Scan', index, undefined]]);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(MOST_BLOCKS);
    expect(plan['Total Cost']).toBeLessThan(MOST_COST);
  }

  const statements = [
    { ...LIST_PETS, index: 'pets_pkey' },
    ...PET_STATUSES.map((status) => ({ ...LIST_PETS_BY_STATUS[status], index: 'pets_status_id_idx' })),
  ];

  it.each(['force_generic_plan', 'force_custom_plan'])('walk one index whatever the plan is made for (%s)', async (mode) => {
    await client.query('TRUNCATE pets.pets RESTART IDENTITY');
    await fill(100_000);
    await client.query('ANALYZE pets.pets');
    await client.query(`SET plan_cache_mode = ${mode}`);
    for (const statement of statements) {
      await client.query(`PREPARE ${statement.name} AS ${statement.text}`);
      for (const from of [-(2n ** 63n), 0n, 50_000n, 99_990n, 2n ** 63n - 1n]) {
        expectIndexOnly(await explain(statement.name, [from], [101]), statement.index);
      }
    }
    await client.query(`PREPARE ${FIND_PETS.name} (bigint[]) AS ${FIND_PETS.text}`);
    expectIndexOnly(await explain(FIND_PETS.name, [77_777n, 1n, 50_000n]), 'pets_pkey');
    await client.query('DEALLOCATE ALL');
  });

  it('walk one index even when their plans were made for an empty table and no statistics came since', async () => {
    await client.query('TRUNCATE pets.pets RESTART IDENTITY');
    await client.query('ANALYZE pets.pets');
    await client.query('SET plan_cache_mode = auto');
    for (const statement of statements) {
      await client.query(`PREPARE ${statement.name} AS ${statement.text}`);
      for (let execution = 0; execution < 10; execution++) await client.query(`EXECUTE ${statement.name}('{0}', '{21}')`);
    }
    await client.query(`PREPARE ${FIND_PETS.name} (bigint[]) AS ${FIND_PETS.text}`);
    for (let execution = 0; execution < 10; execution++) await client.query(`EXECUTE ${FIND_PETS.name}('{0}')`);
    await fill(100_000);
    for (const statement of statements) {
      for (const from of [0n, 50_000n]) expectIndexOnly(await explain(statement.name, [from], [101]), statement.index);
    }
    const find = await explain(FIND_PETS.name, [77_777n, 1n, 50_000n]);
    expect(nodes(find).map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(find['Shared Hit Blocks'] + find['Shared Read Blocks']).toBeLessThan(MOST_BLOCKS);
  });

  it('are planned once, however few are asked for', async () => {
    await client.query('DEALLOCATE ALL');
    const calls = [...statements.map((statement) => ({ ...statement, values: [[0], [21]] })), { ...FIND_PETS, values: [[77_777]] }];
    for (const { name, text, values } of [...calls, { ...FIND_BY_KEYS, values: [[1], ['key']] }]) {
      for (let execution = 0; execution < 10; execution++) await client.query({ name, text, values });
    }
    const { rows } = await client.query('SELECT name, generic_plans FROM pg_prepared_statements WHERE generic_plans < 5');
    expect(rows).toEqual([]);
  });

  it('walk the index for several pages at once', async () => {
    const [statement] = statements;
    if (!statement) throw new Error('no statement');
    await client.query('DEALLOCATE ALL');
    await client.query(`PREPARE ${statement.name} AS ${statement.text}`);
    const plan = await explain(statement.name, [0n, 50_000n, 90_000n], [21, 3, 101]);
    expectIndexOnly(plan, 'pets_pkey');
  });
});
