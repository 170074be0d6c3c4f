import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareOrderValues, type OrderedPageRequest, pageOf } from './order.js';

describe('compareOrderValues', () => {
  it('compares texts by their code points, like PostgreSQL with the collation "C"', () => {
    const unit = fc.constantFrom('', 'a', 'B', 'é', '\u{e000}', '\u{ffff}', '🐕', '🐈');
    const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''));
    /** Hexadecimal digits have the same order as code units. */
    const digits = (of: string) => Array.from(of, (character) => character.codePointAt(0)?.toString(16).padStart(6, '0')).join('');
    fc.assert(
      fc.property(text, text, (one, other) => {
        const expected = digits(one) < digits(other) ? -1 : Number(one !== other);
        expect(Math.sign(compareOrderValues(one, other))).toBe(expected);
      }),
    );
  });

  it.each([
    [1n, 2n],
    [2n ** 53n, 2n ** 53n + 1n],
    [-1, 0],
    [new Date(-1), new Date(0)],
    [-Infinity, new Date(0)],
    [new Date(0), Infinity],
  ])('%p is less than %p', (one, other) => {
    expect([compareOrderValues(one, other), compareOrderValues(other, one), compareOrderValues(one, one)]).toEqual([-1, 1, 0]);
  });
});

describe('pageOf', () => {
  const items = [3n, 1n, 2n].map((id) => ({ id }));

  it.each([
    [{ limit: 3 }, [1n, 2n, 3n], undefined],
    [{ limit: 2 }, [1n, 2n], 2n],
    [{ limit: 1, after: 1n }, [2n], 2n],
    [{ limit: 2, after: 1n }, [2n, 3n], undefined],
    [{ limit: 1, after: 3n }, [], undefined],
    // A list by identifier may have a filter with this name.
    [{ limit: 1, order: 7n }, [1n], 1n],
  ])('returns the items by identifier: %p', (request, ids, next) => {
    expect(pageOf(items, request)).toEqual({ items: ids.map((id) => ({ id })), next });
  });

  const rows = [
    { id: 4n, size: 2 },
    { id: 3n, size: 1 },
    { id: 2n, size: 2 },
    { id: 1n, size: 3 },
  ];
  const ascending = { by: 'size' } as const;
  const descending = { by: 'size', descending: true } as const;

  it.each<[OrderedPageRequest<'size'>, bigint[], bigint | undefined]>([
    [{ limit: 4, order: ascending }, [3n, 2n, 4n, 1n], undefined],
    [{ limit: 4, order: descending }, [1n, 4n, 2n, 3n], undefined],
    [{ limit: 2, order: ascending }, [3n, 2n], 2n],
    [{ limit: 2, order: ascending, after: { value: 2, id: 2n } }, [4n, 1n], undefined],
    [{ limit: 2, order: descending, after: { value: 2, id: 4n } }, [2n, 3n], undefined],
    [{ limit: 4, order: { ...ascending, from: 2, to: 3 } }, [2n, 4n], undefined],
    [{ limit: 1, order: { ...descending, from: 2, to: 3 } }, [4n], 4n],
    [{ limit: 4, order: { ...ascending, from: 2 }, after: { value: 1, id: 9n } }, [2n, 4n, 1n], undefined],
    [{ limit: 4, order: { ...ascending, from: 2, to: 2 } }, [], undefined],
  ])('returns the items in an order and its range: %p', (request, ids, next) => {
    const page = pageOf(rows, request);
    expect(page.items.map(({ id }) => id)).toEqual(ids);
    expect(page.next).toEqual(next && rows.map(({ id, size }) => ({ value: size, id })).find(({ id }) => id === next));
  });
});
