import { INT64_MAX, INT64_MIN, type OrderValue, pageOf } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { List } from '../persistence.js';
import { aLine, OrderLineEntity, Size } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';

type OrderedBy = 'clientId' | 'dueAt' | 'key' | 'priority' | 'quantity';

const FILTERS = [[], ['note'], ['size'], ['note', 'size']];
const ORDERS = ['clientId', 'dueAt', 'key', 'priority', 'quantity', 'note', 'token', 'isGift'];
const LISTS: readonly List[] = [undefined, ...ORDERS].map((orderBy) => ({
  entity: OrderLineEntity,
  filters: FILTERS,
  ...(orderBy !== undefined && { orderBy }),
}));

const lines = useOrderLines(LISTS);
const repositories = () => [lines.first, lines.sharded];
const time = (text: string) => new Date(text);

/** Few values of each type, in their order, so that many rows have equal ones. */
const VALUES = {
  clientId: [INT64_MIN, -1n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX],
  dueAt: ['0001-01-01T00:00:00Z', '2026-11-22T10:00:00.123Z', '2026-11-22T10:00:00.124Z', '9999-12-31T23:59:59.999Z'].map(time),
  key: ['', '"},{"id":', 'B', 'a', 'a ', 'é', '\u{fffd}', '🐕'],
  priority: [-(2 ** 15), 0, 2 ** 15 - 1],
  quantity: [-(2 ** 31), 0, 2 ** 31 - 1],
} satisfies Record<OrderedBy, OrderValue[]>;

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const anyOf = <By extends OrderedBy>(by: By) => fc.constantFrom(...(VALUES[by] as readonly (typeof VALUES)[By][number][]));
const rows = fc.array(
  fc.record({
    clientId: anyOf('clientId'),
    dueAt: anyOf('dueAt'),
    key: anyOf('key'),
    priority: anyOf('priority'),
    quantity: anyOf('quantity'),
    note: fc.constantFrom(null, 'null'),
    size: fc.constantFrom(Size.Small, Size.Large),
  }),
  { maxLength: 20 },
);
const request = fc.constantFrom<OrderedBy>('clientId', 'dueAt', 'key', 'priority', 'quantity').chain((by) =>
  fc.record({
    filter: fc.record(
      { note: fc.constantFrom(null, 'null', undefined), size: fc.constantFrom(Size.Small, Size.Large, undefined) },
      { noNullPrototype: true },
    ),
    order: fc.record({ by: fc.constant(by), descending: optional(fc.boolean()), from: optional(anyOf(by)), to: optional(anyOf(by)) }),
    after: optional(fc.record({ value: anyOf(by), id: fc.constantFrom(INT64_MIN, 1n, 5n, 10n, INT64_MAX) })),
    limit: fc.constantFrom(1, 2, 3, 100),
  }),
);

describe('an ordered list', () => {
  it('has the pages of `pageOf`, for any filters, order, range, position and limit', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.array(request, { minLength: 10, maxLength: 10 }), async (given, requests) => {
        await lines.dataSource.query('TRUNCATE shop."Order lines" RESTART IDENTITY');
        const stored = await Promise.all(given.map(async (row) => ({ ...aLine(row), id: await lines.first.insert(aLine(row)) })));
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
      { numRuns: 25 },
    );
  });
});
