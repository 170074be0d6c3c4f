import { type IdempotencyKey, INT64_MAX, INT64_MIN, type Page } from '@animal-store/kernel';
import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BatchedRepository } from './batched-repository.js';
import { Database } from '../database.js';
import { ExpireIdempotencyKeys } from './expire-idempotency-keys.js';
import { migrateUp } from '../migrations/migrations.js';
import type { StatementInterceptor } from '../connection/statement.js';
import { listStatement } from '../statements/list-statement.js';
import { shardingOf } from '../statements/sharding.js';
import { Table } from '../statements/table.js';
import { aLine, OrderLineEntity, OrderLineKeyEntity, shop, Size } from '../testing/order-lines.js';

// ECMAScript 2026, newer than TypeScript's library.
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

let database: TestDatabase;
let dataSource: Database;
/** The repositories of two processes that share only the database. */
let first: BatchedRepository<OrderLineEntity>;
let second: BatchedRepository<OrderLineEntity>;
/** Uses the statements for tables that Citus distributes. PostgreSQL executes them as well. */
let shardedSource: Database;
let sharded: BatchedRepository<OrderLineEntity>;

beforeAll(async () => {
  database = await createTestDatabase();
  await setOddSettings(database.url);
  const open = (citus: boolean) =>
    new Database({ url: database.url, applicationName: 'spec', poolSize: 6, persistence: [shop], citus }).initialize();
  [dataSource, shardedSource] = [await open(false), await open(true)];
  await migrateUp(dataSource);
  const repositoryOf = (source: Database) =>
    new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
  [first, second, sharded] = [repositoryOf(dataSource), repositoryOf(dataSource), repositoryOf(shardedSource)];
});

beforeEach(() => dataSource.query('TRUNCATE shop."Order lines", shop.order_line_keys'));

afterAll(async () => {
  await Promise.all([dataSource.destroy(), shardedSource.destroy()]);
  await database.drop();
});

describe('a time outside the range of a Date or of RFC 3339', () => {
  it.each([
    ['infinity', 'Invalid Date', 'infinity'],
    ['-infinity', 'Invalid Date', '-infinity'],
    ['0044-03-15 12:00:00+00 BC', 'Invalid Date', '0044-03-15 12:00:00+00 BC'],
    ['294276-01-01', 'Invalid Date', '294276-01-01 00:00:00+00'],
    ['12000-01-01', String(new Date('+012000-01-01T00:00:00Z')), '12000-01-01 00:00:00+00'],
    ['9999-12-31 23:59:59.999+00', String(new Date('9999-12-31T23:59:59.999Z')), '9999-12-31T23:59:59.999Z'],
    ['0001-01-01 00:00:00+00', String(new Date('0001-01-01T00:00:00Z')), '0001-01-01T00:00:00.000Z'],
  ])('%s is read as %s, and listed as %s', async (stored, date, text) => {
    for (const repository of [first, sharded]) {
      const id = await repository.insert(aLine());
      await dataSource.query('UPDATE shop."Order lines" SET "due at" = $2 WHERE id = $1', [id, stored]);
      expect(String((await repository.findById(id))?.dueAt)).toBe(date);
      const page = await repository.page({}, { limit: 1, after: id - 1n });
      expect(page.items.map(({ dueAt }) => String(dueAt))).toEqual([date]);
      expect(JSON.parse(page.json.text)).toEqual([expect.objectContaining({ dueAt: text })]);
    }
  });
});

const keysOf = ({ items }: Page<OrderLineEntity>) => items.map(({ key }) => key);
const all = async () => keysOf(await first.page({}, { limit: 100 }));
const TABLES: [string, () => BatchedRepository<OrderLineEntity>][] = [
  ['one table', () => first],
  ['a sharded table', () => sharded],
];

/** Records the names of the executed statements. */
function recordStatements(): readonly string[] {
  const { pool } = dataSource;
  const execute = pool.execute.bind(pool);
  const seen: string[] = [];
  pool.execute = (execution) => {
    seen.push(execution.name);
    return execute(execution);
  };
  restore = () => (pool.execute = execute);
  return seen;
}

let restore: () => void = () => undefined;
afterEach(() => {
  restore();
});

describe('a row', () => {
  // PostgreSQL cannot store NUL, and UTF-8 cannot encode lone surrogates.
  const character = fc.integer({ min: 1, max: 0x10_ffff }).map((codePoint) => String.fromCodePoint(codePoint).toWellFormed());
  const text = fc.string({ unit: character, maxLength: 40 });
  const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX });
  const line = fc.record({
    key: text.filter((key) => key !== 'broken'),
    clientId: int64,
    quantity: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    priority: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
    isGift: fc.boolean(),
    dueAt: fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
    token: fc.uuid(),
    note: fc.option(fc.oneof(text, fc.constant('NULL'))),
    ordinal: fc.option(int64),
    size: fc.constantFrom(...Object.values(Size)),
  });

  it('is returned unchanged by identifier, in a page, and by key', async () => {
    await fc.assert(
      fc.asyncProperty(line, fc.uuid(), async (row, key) => {
        const { id, ...inserted } = await first.insertOnce(row, { clientId: 1n, key });
        expect(inserted).toEqual({ row, replayed: false });
        const written = JSON.stringify([{ id, ...row }], (_name, value: unknown) =>
          typeof value === 'bigint' ? rawJson(String(value)) : value,
        );
        for (const repository of [second, sharded]) {
          expect(await repository.findById(id)).toEqual({ id, ...row });
          expect(await repository.insertOnce(row, { clientId: 1n, key })).toEqual({ id, row, replayed: true });
          const page = await repository.page({}, { limit: 1, after: id - 1n });
          expect(page.json.text).toBe(written);
          expect(page.items).toEqual([{ id, ...row }]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('fails without affecting other rows if it violates a constraint', async () => {
    const rows = ['good', 'broken', 'good'].map((key) => aLine({ key }));
    const plain = await Promise.allSettled(rows.map((row) => first.insert(row)));
    const keyed = await Promise.allSettled(rows.map((row, index) => first.insertOnce(row, { clientId: 1n, key: String(index) })));
    for (const ends of [plain, keyed]) {
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(ends[1]).toMatchObject({ reason: { constraint: 'line_key_check' } });
    }
    expect(await all()).toEqual(['good', 'good', 'good', 'good']);
    expect(await dataSource.getRepository(OrderLineKeyEntity).count()).toBe(2);
  });

  it('is undefined if it does not exist', async () => {
    for (const id of [INT64_MIN, 0n, INT64_MAX]) expect(await first.findById(id)).toBeUndefined();
  });
});

describe('concurrent calls', () => {
  it('share statements and each return their own result', async () => {
    const inserts = recordStatements();
    const ids = await Promise.all(Array.from({ length: 300 }, (_, quantity) => first.insert(aLine({ quantity }))));
    expect(new Set(ids).size).toBe(300);
    // The first call runs alone, the others in batches of 128.
    expect(inserts).toEqual(['insert one shop.Order lines', ...Array.from({ length: 3 }, () => 'insert shop.Order lines')]);
    restore();
    const finds = recordStatements();
    const found = await Promise.all(ids.map((id) => first.findById(id)));
    expect(found.map((row) => row?.quantity)).toEqual(ids.map((_, index) => index));
    expect(finds.length).toBeLessThan(5);
    expect(new Set(finds)).toEqual(new Set(['find one shop.Order lines', 'find shop.Order lines']));
  });

  it('that follow those of a batch are all in the next one', async () => {
    let last = 0n;
    for (const call of [
      () => first.insert(aLine()),
      () => first.insertOnce(aLine(), { clientId: 1n, key: String(++last) }),
      () => first.findById(++last),
    ]) {
      const statements = recordStatements();
      const callTwice = async () => [await call(), await call()];
      await Promise.all(Array.from({ length: 16 }, callTwice));
      // The first call runs alone.
      expect(statements).toHaveLength(3);
      restore();
    }
  });

  it.each([
    [undefined, 2],
    [1, 1],
  ])('with concurrentReads of %p run at most %i batches of reads at once', async (concurrentReads, expected) => {
    let running = 0;
    let most = 0;
    const interceptor: StatementInterceptor = (_statement, run) => {
      most = Math.max(most, ++running);
      const result = run();
      void Promise.resolve(result).finally(() => running--);
      return result;
    };
    const options = { url: database.url, applicationName: 'spec', poolSize: 6, persistence: [shop] };
    const source = await new Database({ ...options, concurrentReads, interceptor }).initialize();
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity));
    await Promise.all([repository.findById(1n), repository.page({}, { limit: 1 }), repository.page({ size: Size.Small }, { limit: 1 })]);
    await source.destroy();
    expect(most).toBe(expected);
  });

  it('share one statement for pages with different values of a filter', async () => {
    for (const size of [Size.Small, Size.Large, Size.Small]) await first.insert(aLine({ size, key: size }));
    const lists = recordStatements();
    const requested = [Size.Small, Size.Large, Size.Small, Size.Large].map((size, index) => ({ size, limit: 2 + index }));
    const pages = await Promise.all(requested.map(({ size, limit }) => first.page({ size }, { limit })));
    expect(pages.map(keysOf)).toEqual([['small', 'small'], ['large'], ['small', 'small'], ['large']]);
    expect(lists).toEqual(['list shop.Order lines by size', 'list shop.Order lines by size']);
  });

  it.each(TABLES)('return the page of their own position and limit: %s', async (_name, repository) => {
    const ids: bigint[] = [];
    for (const key of ['a', 'b', 'c', 'd']) ids.push(await first.insert(aLine({ key })));
    // The first call runs alone, the others share a statement.
    const requested = [{ limit: 4 }, { limit: 1 }, { limit: 2 }, { limit: 3 }, ...ids.map((after) => ({ limit: 2, after }))];
    const pages = await Promise.all(requested.map((page) => repository().page({}, page)));
    const keys = pages.map((page) => keysOf(page).join(''));
    expect(keys).toEqual(['abcd', 'a', 'ab', 'abc', 'bc', 'cd', 'd', '']);
  });

  it.each(TABLES)('return the page of their own filters: %s', async (_name, repository) => {
    for (const [size, quantity] of [
      [Size.Small, 1],
      [Size.Small, 2],
      [Size.Large, 1],
      [Size.Small, 1],
    ] as const) {
      await first.insert(aLine({ size, quantity, key: `${size} ${String(quantity)}` }));
    }
    const find = async (filter: Parameters<typeof first.page>[0]) => keysOf(await repository().page(filter, { limit: 100 }));
    const [both, size, quantity, key, none] = await Promise.all([
      find({ size: Size.Small, quantity: 1 }),
      find({ size: Size.Small, quantity: undefined }),
      find({ quantity: 1 }),
      find({ key: 'small 2' }),
      find({}),
    ]);
    expect(both).toEqual(['small 1', 'small 1']);
    expect(size).toEqual(['small 1', 'small 2', 'small 1']);
    expect(quantity).toEqual(['small 1', 'large 1', 'small 1']);
    expect(key).toEqual(['small 2']);
    expect(none).toEqual(['small 1', 'small 2', 'large 1', 'small 1']);
  });

  it('return the page of their own filters, even if the values look alike', async () => {
    const at = (ms: number) => new Date(Date.UTC(2030, 0, 1) + ms);
    const note = '" key "';
    await first.insert(aLine({ dueAt: at(1), note: 'null', key: 'one' }));
    await first.insert(aLine({ dueAt: at(2), note, key: 'two' }));
    const filters = [{}, { dueAt: at(1) }, { dueAt: at(2) }, { note: null }, { note: 'null' }, { note }, { note: '', key: '" ' }];
    const pages = await Promise.all(filters.map((filter) => first.page(filter, { limit: 2 })));
    const keys = pages.map(keysOf);
    expect(keys).toEqual([['one', 'two'], ['one'], ['two'], [], ['one'], ['two'], []]);
  });

  it.each(TABLES)('find rows without a value by a filter of null: %s', async (_name, repository) => {
    const ids: bigint[] = [];
    for (const [note, ordinal, key] of [
      [null, null, 'a'],
      [null, 1n, 'b'],
      ['null', null, 'c'],
      [null, null, 'd'],
    ] as const)
      ids.push(await first.insert(aLine({ note, ordinal, key })));
    const find = async (filter: Parameters<typeof first.page>[0], after?: bigint) =>
      keysOf(await repository().page(filter, { limit: 100, after })).join('');
    const pages = await Promise.all([
      find({ note: null }),
      find({ note: null, ordinal: null }),
      find({ note: null, ordinal: 1n }),
      find({ note: 'null', ordinal: null }),
      find({ key: 'd', note: null, size: Size.Small }),
      find({ note: null, size: Size.Large }),
      find({ note: null }, ids[1]),
    ]);
    expect(pages).toEqual(['abd', 'ad', 'b', 'c', 'd', '', 'd']);
    expect((await repository().page({ note: null }, { limit: 1 })).next).toBe(ids[0]);
  });

  it('find rows by a time that PostgreSQL set', async () => {
    const id = await first.insert(aLine());
    await dataSource.query(`UPDATE shop."Order lines" SET "due at" = '2026-11-22T10:00:00.1237Z'`);
    const { dueAt } = (await first.findById(id)) as OrderLineEntity;
    for (const repository of [first, sharded]) expect(keysOf(await repository.page({ dueAt }, { limit: 1 }))).toEqual(['first']);
  });
});

it.each([
  { filters: [], nulls: ['note'], values: [], index: 'by_note' },
  { filters: ['size'], nulls: ['note'], values: ['{small}'], index: 'by_note_size' },
  { filters: ['note', 'size'], nulls: [], values: ['{often}', '{small}'], index: 'by_note_size' },
])('a page scans one index for the filters $filters and nulls $nulls', async ({ filters, nulls, values, index }) => {
  const metadata = dataSource.getMetadata(OrderLineEntity);
  const table = new Table(metadata);
  const columns = (properties: readonly string[]) => table.columns.filter(({ property }) => properties.includes(property));
  const runner = dataSource.createQueryRunner();
  await runner.startTransaction();
  await runner.query(`
    CREATE INDEX by_note ON shop."Order lines" (note, id);
    CREATE INDEX by_note_size ON shop."Order lines" (note, size, id);
    INSERT INTO shop."Order lines" (key, client_id, quantity, priority, "is 'gift'", "due at", token, note, size)
    SELECT '', 1, 1, 1, false, now(), gen_random_uuid(), CASE WHEN n % 100 > 0 THEN 'often' END, 'small' FROM generate_series(1, 5000) n;
    ANALYZE shop."Order lines"`);
  await runner.query(
    `PREPARE page AS ${listStatement(table, columns(filters), shardingOf(metadata, { persistence: [] }), columns(nulls)).text}`,
  );
  const parameters = [...values, '{0}', '{10}'].map((value) => `'${value}'`).join();
  const plan = (await runner.query(`EXPLAIN EXECUTE page(${parameters})`)) as unknown as { 'QUERY PLAN': string }[];
  await runner.query('DEALLOCATE page');
  await runner.rollbackTransaction();
  await runner.release();
  const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
  expect(lines.match(/\S+ Scan .*(?=on "Order lines")|Filter:/g)).toEqual([`Index Scan using ${index} `]);
});

describe('a page', () => {
  it.each([0, 101, 1.5, Number.NaN])('rejects a size of %d rows', (limit) => {
    expect(() => first.page({}, { limit })).toThrow(new RangeError('limit must be an integer from 1 to 100'));
  });

  it('has at most 100 rows, and `next` if there are more', async () => {
    const ids = await Promise.all(Array.from({ length: 101 }, () => first.insert(aLine())));
    const { items, next } = await first.page({}, { limit: 100 });
    expect(items).toHaveLength(100);
    expect(next).toBe(ids.toSorted((one, other) => Number(one - other))[99]);
  });

  it('has the identifier of its last row as `next` exactly if there are more rows', async () => {
    const ids: bigint[] = [];
    for (let i = 0; i < 3; i++) ids.push(await first.insert(aLine()));
    expect((await first.page({}, { limit: 2 })).next).toBe(ids[1]);
    expect((await first.page({}, { limit: 3 })).next).toBeUndefined();
    expect((await first.page({ size: Size.Small }, { limit: 1, after: ids[0] })).next).toBe(ids[1]);
    const last = await first.page({}, { limit: 1, after: INT64_MAX });
    expect([last.items, last.next]).toEqual([[], undefined]);
  });
});

describe('insertOnce', () => {
  const key: IdempotencyKey = { clientId: 1n, key: 'once' };

  it('inserts one row for concurrent repetitions in several processes', async () => {
    const results = await Promise.all(Array.from({ length: 30 }, (_, index) => (index % 2 ? first : second).insertOnce(aLine(), key)));
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await all()).toHaveLength(1);
  });

  it('returns the row of the first call for a key, even if the new row is different', async () => {
    const statements = recordStatements();
    const [one, other] = await Promise.all([first.insertOnce(aLine({ key: 'one' }), key), first.insertOnce(aLine({ key: 'other' }), key)]);
    expect([one.row.key, other.row.key]).toEqual(['one', 'one']);
    expect([one.replayed, other.replayed]).toEqual([false, true]);
    expect((await second.insertOnce(aLine({ key: 'other' }), key)).row.key).toBe('one');
    expect(await all()).toHaveLength(1);
    const once = 'insert once shop.Order lines';
    expect(statements).toEqual([once, once, 'find by key shop.Order lines', 'list shop.Order lines']);
  });

  it('distinguishes clients and keys', async () => {
    const others = [key, { ...key, clientId: 2n }, { ...key, key: 'Once' }];
    const results = await Promise.all(others.map((other) => first.insertOnce(aLine(), other)));
    expect(results.map(({ replayed }) => replayed)).toEqual([false, false, false]);
  });

  it('never delays an insert without a key', async () => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`INSERT INTO shop.order_line_keys (client_id, key, line_id, request) VALUES (1, 'once', 0, '{}')`);
    const held = first.insertOnce(aLine({ key: 'waits' }), key);
    await first.insert(aLine({ key: 'goes on' }));
    expect(await all()).toEqual(['goes on']);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await held).toMatchObject({ replayed: false });
  });

  it('does not deadlock with another process on the same keys', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 20 }, (_, index) => ({ clientId: 2n, key: `${String(round)} ${String(index)}` }));
      const results = await Promise.all([
        ...keys.map((one) => first.insertOnce(aLine(), one)),
        ...keys.toReversed().map((one) => second.insertOnce(aLine(), one)),
      ]);
      expect(results.filter(({ replayed }) => !replayed)).toHaveLength(20);
    }
    expect(await dataSource.getRepository(OrderLineEntity).count()).toBe(400);
  });

  it('inserts again after the key was deleted, which happens after 24 hours by the clock of the database, in batches', async () => {
    await first.insertOnce(aLine(), key);
    await dataSource.query(
      `INSERT INTO shop.order_line_keys (client_id, key, line_id, request, created_at)
       SELECT 1, 'old ' || n, n, '{}', now() - interval '24 hours 1 second' FROM generate_series(1, 1100) AS n`,
    );
    await dataSource.query(
      `INSERT INTO shop.order_line_keys (client_id, key, line_id, request, created_at) VALUES (1, 'young', 1, '{}', now() - interval '23 hours 59 minutes')`,
    );
    expect(await new ExpireIdempotencyKeys(dataSource).execute()).toBe(1100);
    expect(await new ExpireIdempotencyKeys(dataSource).execute()).toBe(0);
    const remaining = await dataSource.getRepository(OrderLineKeyEntity).find({ order: { key: 'ASC' } });
    expect(remaining.map((record) => record.key)).toEqual(['once', 'young']);
    expect(await second.insertOnce(aLine(), key)).toMatchObject({ replayed: true });
    expect(await second.insertOnce(aLine(), { ...key, key: 'old 1' })).toMatchObject({ replayed: false });
  });

  it("returns the row's value of a column that was added after the request was recorded", async () => {
    const { id } = await first.insertOnce(aLine({ quantity: 7, note: 'original' }), key);
    await dataSource.query(`UPDATE shop.order_line_keys SET request = request - 'quantity' - 'ordinal'`);
    await dataSource.query(`UPDATE shop."Order lines" SET quantity = 9, ordinal = 5, note = 'changed'`);
    const row = aLine({ quantity: 9, ordinal: 5n, note: 'original' });
    expect(await second.insertOnce(aLine(), key)).toEqual({ id, row, replayed: true });
  });

  it('requires a table of keys', async () => {
    const keyless = new BatchedRepository(dataSource.getRepository(OrderLineEntity));
    await expect(keyless.insertOnce(aLine(), key)).rejects.toThrow('insertOnce requires a repository for idempotency keys.');
  });
});
