import { describe, expect, it, jest } from '@jest/globals';
import type { Columns } from '../connection/statement.js';
import { elementOf, PreparedStatement } from './prepared-statement.js';

const PICK = new PreparedStatement<unknown>('pick', 'SELECT $1', ([text]: Columns) => text);

describe('a prepared statement', () => {
  it('has another name on the server than a statement with the same label and another text', () => {
    const names = ['SELECT 1', 'SELECT 2'].map((text) => new PreparedStatement('x'.repeat(99), text, () => undefined).name);
    expect(names.map((name) => [name.length, /^[\w-]{11} x+$/.test(name)])).toEqual([
      [63, true],
      [63, true],
    ]);
    expect(names[0]).not.toBe(names[1]);
  });

  it('reports its name, the seconds and the number of values, whether it succeeds or fails', async () => {
    const executed = jest.fn();
    const now = jest.spyOn(performance, 'now');
    const pool = {
      observer: { executed },
      execute: ({ values }: { readonly values: readonly unknown[] }) =>
        values.length > 1 ? Promise.reject(new Error('no')) : Promise.resolve(['row'] as never[]),
    };
    for (const [startedAt, endedAt] of [
      [1_000, 3_500],
      [10, 20],
      [0, 1],
    ] as const)
      now.mockReturnValueOnce(startedAt).mockReturnValueOnce(endedAt);
    expect(await PICK.run(pool, [[1, 2, 3]])).toEqual(['row']);
    await expect(PICK.run(pool, [[1, 2], [3]])).rejects.toThrow('no');
    await PICK.run(pool, ['text']);
    expect(executed.mock.calls).toEqual([
      ['pick', 2.5, 3],
      ['pick', 0.01, 2],
      ['pick', 0.001, 1],
    ]);
    now.mockRestore();
  });
});

it.each([
  [1n, '1'],
  [-2.5, '-2.5'],
  [true, 'true'],
  [null, 'NULL'],
  [undefined, 'NULL'],
  ['NULL', '"NULL"'],
  ['', '""'],
  ['a"b"\\c\\', '"a\\"b\\"\\\\c\\\\"'],
  [new Date(0), '"1970-01-01T00:00:00.000Z"'],
])('the element of an array for %p is %s', (value, text) => {
  expect(elementOf(value)).toBe(text);
});
