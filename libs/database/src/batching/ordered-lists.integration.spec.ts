import { INT64_MAX, INT64_MIN, type Order, type PageRequest, type OrderValue, type Position } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aLine, OrderLineEntity, Size } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';
import { BatchedRepository } from './batched-repository.js';

type OrderedBy = 'clientId' | 'dueAt' | 'key' | 'quantity';

const lines = useOrderLines();
const repositories = () => [lines.first, lines.sharded];
const STARTED = new Date('2026-11-22T10:00:00.123Z');
const time = (text: string) => new Date(text);

/** Few values of each type, in their order, so that many rows have equal ones. */
const VALUES = {
  clientId: [INT64_MIN, -1n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX],
  dueAt: ['0001-01-01T00:00:00Z', '2026-11-22T10:00:00.123Z', '2026-11-22T10:00:00.124Z', '9999-12-31T23:59:59.999Z'].map(time),
  key: ['', '"},{"id":', 'B', 'a', 'a ', 'é', '\u{fffd}', '🐕'],
  quantity: [-(2 ** 31), 0, 2 ** 31 - 1],
} satisfies Record<OrderedBy, OrderValue[]>;

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const anyOf = <By extends OrderedBy>(by: By) => fc.constantFrom(...(VALUES[by] as readonly (typeof VALUES)[By][number][]));
const rows = fc.array(
  fc.record({
    clientId: anyOf('clientId'),
    dueAt: anyOf('dueAt'),
    key: anyOf('key'),
    quantity: anyOf('quantity'),
    note: fc.constantFrom(null, 'null'),
    size: fc.constantFrom(Size.Small, Size.Large),
  }),
  { maxLength: 20 },
);
const request = fc
  .constantFrom<OrderedBy>('clientId', 'dueAt', 'key', 'quantity')
  .chain((by) =>
    fc.record({
      filter: fc.record(
        { note: fc.constantFrom('null', undefined), size: fc.constantFrom(Size.Small, Size.Large, undefined) },
        { noNullPrototype: true },
      ),
      order: fc.record({ by: fc.constant(by), descending: optional(fc.boolean()), from: optional(anyOf(by)), to: optional(anyOf(by)) }),
      after: optional(fc.record({ value: anyOf(by), id: fc.constantFrom(INT64_MIN, 1n, 5n, 10n, INT64_MAX) })),
      limit: fc.constantFrom(1, 2, 3, 100),
    }),
  )
  // A position is that of an item in the range.
  .filter(
    ({ after, order: { from, to } }) =>
      !after ||
      ((from === undefined || compareOrderValues(after.value, from) >= 0) && (to === undefined || compareOrderValues(after.value, to) < 0)),
  );

/** Compares two values of one type: texts by their bytes, like PostgreSQL with the collation "C". */
function compareOrderValues(one: OrderValue, other: OrderValue): number {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other as string));
  return one < other ? -1 : Number(one > other);
}

/** Returns the page of the items that a list should have. */
function pageOf<Item extends { readonly id: bigint }>(
  items: readonly Item[],
  { limit, after, order }: PageRequest<string> & { readonly order: Order },
) {
  const { by, descending = false, from, to } = order;
  type Place = Position & { readonly value: OrderValue };
  const positionOf = (item: Item): Place => ({ value: Reflect.get(item, by) as OrderValue, id: item.id });
  const compare = (one: Place, other: Place) =>
    (compareOrderValues(one.value, other.value) || compareOrderValues(one.id, other.id)) * (descending ? -1 : 1);
  const isListed = (position: Place) =>
    (from === undefined || compareOrderValues(position.value, from) >= 0) &&
    (to === undefined || compareOrderValues(position.value, to) < 0) &&
    (after === undefined || compare(position, after as Place) > 0);
  const listed = items.filter((item) => isListed(positionOf(item))).sort((one, other) => compare(positionOf(one), positionOf(other)));
  const last = listed.length > limit ? listed[limit - 1] : undefined;
  return { items: listed.slice(0, limit), next: last && positionOf(last) };
}

describe('an ordered list', () => {
  it('has the pages of `pageOf`, for any filters, order, range, position and limit', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.array(request, { minLength: 10, maxLength: 10 }), async (given, requests) => {
        await lines.dataSource.query('TRUNCATE shop."Order lines" RESTART IDENTITY');
        const stored = await Promise.all(given.map((row) => lines.insert(aLine(row))));
        for (const repository of repositories()) {
          // Concurrent calls share statements.
          const pages = await Promise.all(requests.map(({ filter, ...page }) => repository.page(filter, page)));
          for (const [index, { filter, ...page }] of requests.entries()) {
            const isListed = ({ note, size }: (typeof stored)[number]) =>
              (filter.note === undefined || filter.note === note) && (filter.size === undefined || filter.size === size);
            const expected = pageOf(stored.filter(isListed), page);
            expect({ items: pages[index]?.items, next: pages[index]?.next }).toEqual(expected);
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  /** Reads all pages of one row. */
  async function walk(repository: typeof lines.first, order: Order<'dueAt' | 'quantity'>): Promise<bigint[]> {
    const seen: bigint[] = [];
    for (let after: Position | undefined, isFirst = true; (isFirst || after) && seen.length < 20; isFirst = false) {
      const { items, next } = await repository.page({}, { limit: 1, order, after });
      seen.push(...items.map(({ id }) => id));
      after = next;
    }
    return seen;
  }

  it('continues after infinite times, which mean "not set", and after the least and greatest identifiers', async () => {
    const insert = (id: bigint, dueAt: string) =>
      lines.dataSource.query(
        `INSERT INTO shop."Order lines" (id, key, client_id, quantity, priority, "is 'gift'", "due at", token, size) OVERRIDING SYSTEM VALUE
         VALUES ($1, '', 1, 7, 1, false, $2, gen_random_uuid(), 'small')`,
        [id, dueAt],
      );
    const ordered: [bigint, string][] = [
      [INT64_MIN, '-infinity'],
      [2n, '-infinity'],
      [INT64_MAX, '2026-11-22T10:00:00.123Z'],
      [3n, '2026-11-22T10:00:00.124Z'],
      [1n, 'infinity'],
      [4n, 'infinity'],
    ];
    for (const [id, dueAt] of ordered) await insert(id, dueAt);
    const ids = ordered.map(([id]) => id);
    for (const repository of repositories()) {
      expect(await walk(repository, { by: 'dueAt' })).toEqual(ids);
      expect(await walk(repository, { by: 'dueAt', descending: true })).toEqual(ids.toReversed());
      expect(await walk(repository, { by: 'quantity' })).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
    }
    await insert(5n, '0044-03-15 12:00:00+00 BC');
    const page = (limit: number) => lines.first.page({}, { limit, order: { by: 'dueAt', descending: true } });
    const [, after, before] = await Promise.allSettled([page(6), page(5), page(4)]);
    expect(before).toMatchObject({ status: 'fulfilled', value: { next: { id: INT64_MAX } } });
    expect(after).toMatchObject({
      reason: new Error('shop.Order lines: A list cannot continue after the row 5, because dueAt is 0044-03-15 12:00:00+00 BC.'),
    });
  });

  it('neither repeats nor hides a row while rows are added', async () => {
    const at = (ms: number) => new Date(STARTED.getTime() + ms);
    const insert = async (ms: number) => (await lines.insert(aLine({ dueAt: at(ms) }))).id;
    for (const descending of [false, true]) {
      const existing = await Promise.all([10, 20, 20, 20, 30].map(insert));
      const seen: bigint[] = [];
      for (let after: Position | undefined, isFirst = true; (isFirst || after) && seen.length < 50; isFirst = false) {
        const { items, next } = await lines.first.page({}, { limit: 1, order: { by: 'dueAt', descending, from: at(5) }, after });
        seen.push(...items.map(({ id }) => id));
        // Before, at and after the place of the next page. Added rows come after it only twice as fast as pages.
        if (seen.length < 10) await Promise.all([1, 10, 20, 30, 40].map(insert));
        after = next;
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => existing.includes(id))).toHaveLength(existing.length);
      await lines.dataSource.query('TRUNCATE shop."Order lines"');
    }
  });

  it('shares statements between calls of one shape, and results between equal ones', async () => {
    for (const quantity of [1, 2, 3]) await lines.insert(aLine({ quantity, size: quantity === 3 ? Size.Large : Size.Small }));
    const statements = lines.recordStatements();
    const page = (size: Size, from: number) => lines.first.page({ size }, { limit: 5, order: { by: 'quantity', from } });
    const pages = await Promise.all([page(Size.Small, 1), page(Size.Small, 2), page(Size.Large, 2), page(Size.Small, 2)]);
    expect(pages.map(({ items }) => items.map(({ quantity }) => quantity))).toEqual([[1, 2], [2], [3], [2]]);
    expect(pages[3]).toBe(pages[1]);
    // The first call runs alone.
    const name = 'list shop.Order lines by size order quantity bound';
    expect(statements).toEqual([name, name]);
  });

  it('fails for a wrong value without affecting other calls', async () => {
    await lines.insert(aLine());
    const page = (from: OrderValue) => lines.first.page({}, { limit: 1, order: { by: 'dueAt', from } });
    const results = await Promise.allSettled(['-infinity', 'soon', '-infinity', '10:00', '2026-11-22'].map(page));
    expect(results.map(({ status }) => status[0]).join('')).toBe('frfrf');
    for (const repository of repositories()) {
      const order = { by: 'dueAt' } as const;
      const invalid = new Date(Number.NaN);
      await expect(repository.page({}, { limit: 1, order: { ...order, from: invalid } })).rejects.toThrow('from must be a valid Date.');
      await expect(repository.page({}, { limit: 1, order: { ...order, to: invalid } })).rejects.toThrow('to must be a valid Date.');
      await expect(repository.page({}, { limit: 1, order, after: { value: '\ud800', id: 1n } })).rejects.toThrow(
        'after.value must be well-formed Unicode, without lone surrogates.',
      );
    }
  });

  it.each([
    ['note', {}, 'cannot order a list'],
    ['token', {}, 'cannot order a list'],
    ['isGift', {}, 'cannot order a list'],
    ['size', { size: Size.Small }, 'cannot order a list'],
    ['other', {}, 'cannot order a list'],
  ])('cannot be ordered by %s with the filters %j', async (by, filter, message) => {
    const page = lines.first.page(filter, { limit: 1, order: { by: by as 'dueAt' } });
    await expect(page).rejects.toThrow(message);
  });
});

it('an ordered page only scans the index of its filters and its order, in both directions', async () => {
  const texts = new Map<string, string>();
  const source = await lines.open({
    interceptor: ({ name = '', text }, run) => {
      texts.set(name, text);
      return run();
    },
  });
  await source.query(`
    CREATE INDEX by_due ON shop."Order lines" ("due at", id);
    CREATE INDEX by_note_size_due ON shop."Order lines" (note, size, "due at", id);
    INSERT INTO shop."Order lines" (key, client_id, quantity, priority, "is 'gift'", "due at", token, note, size)
    SELECT '', 1, 1, 1, false, now() + n * interval '1 s', gen_random_uuid(), CASE WHEN n % 100 > 0 THEN 'often' END, 'small'
    FROM generate_series(1, 5000) n;
    ANALYZE shop."Order lines"`);
  const repository = new BatchedRepository(source.getRepository(OrderLineEntity));
  for (const filter of [{}, { note: 'often', size: Size.Small }]) {
    for (const descending of [false, true]) {
      for (const range of [{}, { from: STARTED }, { to: STARTED }, { from: STARTED, to: STARTED }]) {
        for (const after of [undefined, { value: STARTED, id: 1n }]) {
          texts.clear();
          await repository.page(filter, { limit: 10, order: { by: 'dueAt', descending, ...range }, after });
          const [[name, text] = ['', '']] = texts;
          const plan = await source.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN (GENERIC_PLAN) ${text}`);
          const scans = plan.map((line) => line['QUERY PLAN']).filter((line) => /Scan .*on "Order lines"|Filter:|Sort Key:/.test(line));
          const scan = `Index Scan ${descending ? 'Backward ' : ''}using ${'size' in filter ? 'by_note_size_due' : 'by_due'} on "Order lines"`;
          expect({ name, scans }).toEqual({ name, scans: [expect.stringContaining(scan)] });
        }
      }
    }
  }
  await source.query('DROP INDEX shop.by_due, shop.by_note_size_due');
  await source.destroy();
});
