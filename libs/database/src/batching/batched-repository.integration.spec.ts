import { INT64_MAX, INT64_MIN, type Page } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Database } from '../database.js';
import { BatchedRepository } from './batched-repository.js';
import type { StatementInterceptor } from '../connection/statement.js';
import { aLine, OrderLineEntity, OrderLineKeyEntity, Size } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';

// ECMAScript 2026, newer than TypeScript's library.
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

const lines = useOrderLines();

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
    for (const repository of [lines.first, lines.sharded]) {
      const {
        result: { id },
      } = await repository.add(aLine());
      await lines.dataSource.query('UPDATE shop."Order lines" SET "due at" = $2 WHERE id = $1', [id, stored]);
      const found = await repository.findById(id);
      const single = await lines.dataSource.getRepository(OrderLineEntity).findOneBy({ id });
      expect([found, single].map((row) => String(row?.dueAt))).toEqual([date, date]);
      expect([found, single].map((row) => row?.dueAt.toJSON())).toEqual([text, text]);
      const page = await repository.page({}, { limit: 1, after: { id: id - 1n } });
      expect(page.items.map(({ dueAt }) => String(dueAt))).toEqual([date]);
      expect(JSON.parse(page.json.text)).toEqual([expect.objectContaining({ dueAt: text })]);
    }
  });
});

@Entity({ schema: 'shop', name: 'prices' })
class PriceEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

  @Column('numeric')
  amount!: string;
}

it('an entity with a column that is not supported fails the start, with the name of the property', async () => {
  const url = lines.dataSource.settings.url;
  const persistence = [{ schema: 'shop', entities: [PriceEntity], migrations: [] }];
  const source = new Database({ url, applicationName: 'spec', poolSize: 1, persistence });
  new BatchedRepository(source.getRepository(PriceEntity));
  await expect(source.initialize()).rejects.toThrow(
    'PriceEntity.amount: BatchedRepository does not support columns of type numeric; store',
  );
  expect(source.isInitialized).toBe(false);
});

const keysOf = ({ items }: Page<OrderLineEntity>) => items.map(({ key }) => key);
const TABLES: [string, () => BatchedRepository<OrderLineEntity>][] = [
  ['one table', () => lines.first],
  ['a sharded table', () => lines.sharded],
];

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
    // Of another release, or another program.
    size: fc.oneof(fc.constantFrom(...Object.values(Size)), text as fc.Arbitrary<Size>),
  });

  it('is returned unchanged by identifier, in a page, and by key', async () => {
    await fc.assert(
      fc.asyncProperty(line, fc.uuid(), async (row, key) => {
        const inserted = await lines.first.add(row, { clientId: 1n, key });
        const { id } = inserted.result;
        expect(inserted).toEqual({ result: { id, ...row }, replayed: false });
        const written = JSON.stringify([{ id, ...row }], (_name, value: unknown) =>
          typeof value === 'bigint' ? rawJson(String(value)) : value,
        );
        for (const repository of [lines.second, lines.sharded]) {
          expect(await repository.findById(id)).toEqual({ id, ...row });
          expect(await repository.add(row, { clientId: 1n, key })).toEqual({ ...inserted, replayed: true });
          const page = await repository.page({}, { limit: 1, after: { id: id - 1n } });
          expect(page.json.text).toBe(written);
          expect(page.items).toEqual([{ id, ...row }]);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('fails without affecting other rows if it violates a constraint', async () => {
    const rows = ['good', 'broken', 'good'].map((key) => aLine({ key }));
    const plain = await Promise.allSettled(rows.map((row) => lines.insert(row)));
    const keyed = await Promise.allSettled(rows.map((row, index) => lines.first.add(row, { clientId: 1n, key: String(index) })));
    for (const ends of [plain, keyed]) {
      expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(ends[1]).toMatchObject({ reason: { constraint: 'line_key_check' } });
    }
    expect(await lines.all()).toEqual(['good', 'good', 'good', 'good']);
    expect(await lines.dataSource.getRepository(OrderLineKeyEntity).count()).toBe(2);
  });

  it('is undefined if it does not exist', async () => {
    for (const id of [INT64_MIN, 0n, INT64_MAX]) expect(await lines.first.findById(id)).toBeUndefined();
  });
});

it('rows are found by many identifiers in one statement', async () => {
  const rows = await Promise.all(['a', 'b'].map((key) => lines.insert(aLine({ key }))));
  const statements = lines.recordStatements();
  const ids = [...rows, ...rows].map(({ id }) => id);
  expect(await lines.first.findByIds([...Array.from({ length: 60 }, () => ids).flat(), -1n])).toEqual(
    new Map(rows.map((row) => [row.id, row])),
  );
  expect(await lines.first.findByIds([])).toEqual(new Map());
  expect(statements).toEqual(['find shop.Order lines']);
  const many = Array.from({ length: 101 }, (_, index) => BigInt(-index));
  expect(await lines.first.findByIds(many.slice(1))).toEqual(new Map());
  await expect(lines.first.findByIds(many)).rejects.toThrow(new RangeError('ids must have at most 100 different identifiers'));
});

it('rows are added for each call without a key, and once for a key with the same values', async () => {
  const key = { clientId: 1n, key: 'added' };
  expect(await lines.first.add(aLine())).toMatchObject({ result: aLine(), replayed: false });
  const { result } = await lines.first.add(aLine(), key);
  expect(await lines.second.add(aLine(), key)).toEqual({ result, replayed: true });
  for (const other of [{ note: 'other' }, { ordinal: 1n }, { dueAt: new Date(1) }, { isGift: true }])
    await expect(lines.second.add(aLine(other), key)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  const { note, ...request } = aLine({ note: 'set by the service' });
  expect(await lines.second.add({ ...request, note }, key, request)).toEqual({ result, replayed: true });
});

describe('concurrent calls', () => {
  it('share statements and each return their own result', async () => {
    const inserts = lines.recordStatements();
    const rows = await Promise.all(Array.from({ length: 300 }, (_, quantity) => lines.insert(aLine({ quantity }))));
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(300);
    // The first call runs alone, the others in batches of 128.
    expect(inserts).toEqual(['insert one shop.Order lines', ...Array.from({ length: 3 }, () => 'insert shop.Order lines')]);
    const finds = lines.recordStatements();
    const found = await Promise.all(ids.map((id) => lines.first.findById(id)));
    expect(found.map((row) => row?.quantity)).toEqual(ids.map((_, index) => index));
    expect(finds.length).toBeLessThan(5);
    expect(new Set(finds)).toEqual(new Set(['find one shop.Order lines', 'find shop.Order lines']));
  });

  it.each([
    ['two batches of reads', {}, 2],
    ['two of finds, and of lists, with replicas,', { replicaUrls: ['postgres://replica.example/shop'] }, 3],
  ])('run at most %s at once, and one insert with keys beside one without', async (_what, options, expected) => {
    let started = 0;
    const interceptor: StatementInterceptor = (_statement, run) => {
      started++;
      return run();
    };
    const source = await lines.open({ interceptor, ...options });
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    started = 0;
    const reads = [repository.findById(1n), repository.page({}, { limit: 1 }), repository.page({ size: Size.Small }, { limit: 1 })];
    expect(started).toBe(expected);
    await Promise.all(reads);
    started = 0;
    const inserts = [undefined, { clientId: 1n, key: 'a' }].map((key) => repository.add(aLine(), key));
    expect(started).toBe(2);
    await Promise.all(inserts);
    await source.close();
  });

  it('share one statement for pages with different values of a filter', async () => {
    for (const size of [Size.Small, Size.Large, Size.Small]) await lines.insert(aLine({ size, key: size }));
    const lists = lines.recordStatements();
    const requested = [Size.Small, Size.Large, Size.Small, Size.Large].map((size, index) => ({ size, limit: 2 + index }));
    const pages = await Promise.all(requested.map(({ size, limit }) => lines.first.page({ size }, { limit })));
    expect(pages.map(keysOf)).toEqual([['small', 'small'], ['large'], ['small', 'small'], ['large']]);
    expect(lists).toEqual(['list shop.Order lines by size', 'list shop.Order lines by size']);
  });

  it.each(TABLES)('return the page of their own filters: %s', async (_name, repository) => {
    for (const [size, quantity] of [
      [Size.Small, 1],
      [Size.Small, 2],
      [Size.Large, 1],
      [Size.Small, 1],
    ] as const) {
      await lines.insert(aLine({ size, quantity, key: `${size} ${String(quantity)}` }));
    }
    const find = async (filter: Parameters<typeof lines.first.page>[0]) => keysOf(await repository().page(filter, { limit: 100 }));
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
    await lines.insert(aLine({ dueAt: at(1), note: 'null', key: 'one' }));
    await lines.insert(aLine({ dueAt: at(2), note, key: 'two' }));
    const filters = [{}, { dueAt: at(1) }, { dueAt: at(2) }, { note: 'null' }, { note }, { note: '', key: '" ' }];
    const pages = await Promise.all(filters.map((filter) => lines.first.page(filter, { limit: 2 })));
    const keys = pages.map(keysOf);
    expect(keys).toEqual([['one', 'two'], ['one'], ['two'], ['one'], ['two'], []]);
  });

  it('find rows by a time that PostgreSQL set', async () => {
    const { id } = await lines.insert(aLine());
    await lines.dataSource.query(`UPDATE shop."Order lines" SET "due at" = '2026-11-22T10:00:00.1237Z'`);
    const { dueAt } = (await lines.first.findById(id)) as OrderLineEntity;
    for (const repository of [lines.first, lines.sharded])
      expect(keysOf(await repository.page({ dueAt }, { limit: 1 }))).toEqual(['first']);
  });
});

describe('a page', () => {
  it.each([0, 101, 1.5, Number.NaN])('rejects a size of %d rows', (limit) => {
    expect(() => lines.first.page({}, { limit })).toThrow(new RangeError('limit must be an integer from 1 to 100'));
  });

  it('has at most 100 rows, and `next` if there are more', async () => {
    const rows = await Promise.all(Array.from({ length: 101 }, () => lines.insert(aLine())));
    const { items, next } = await lines.first.page({}, { limit: 100 });
    expect(items).toHaveLength(100);
    expect(next).toEqual({ id: rows.map(({ id }) => id).toSorted((one, other) => Number(one - other))[99] });
  });
});
