import { expect, it } from '@jest/globals';
import { SystemClock } from './clock.js';
import { DomainError } from './domain-error.js';
import { JsonText } from './json-text.js';
import { JsonPage } from './page.js';
import { assertSameRequest, IDEMPOTENCY_KEY_REUSED } from './request.js';

it('SystemClock returns the current time', () => {
  const before = Date.now();
  const now = new SystemClock().now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

it('DomainError has the code and kind of its definition, and its message by default', () => {
  const definition = { code: 'pet_not_found', kind: 'not_found', message: 'There is no such pet.' } as const;
  const cause = new Error('no row');
  expect(new DomainError(definition)).toMatchObject({ ...definition, name: 'DomainError' });
  expect(new DomainError(definition, 'No pet is called Rex.', { cause })).toMatchObject({ message: 'No pet is called Rex.', cause });
});

class NewThing {
  constructor(
    readonly name: string,
    readonly at: Date,
    readonly size: bigint | null = 1n,
  ) {}
}

it('assertSameRequest compares all members', () => {
  const thing = new NewThing('a', new Date(1));
  expect(() => {
    assertSameRequest(thing, { name: 'a', at: new Date(1), size: 1n });
  }).not.toThrow();
  for (const other of [{ name: 'A' }, { at: new Date(2) }, { size: 2n }, { size: null }])
    expect(() => {
      assertSameRequest(thing, { ...thing, ...other });
    }).toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
});

it('JsonText writes each int64 as an exact number', () => {
  expect(JsonText.of([{ id: 2n ** 63n - 1n, name: '"Rex"', tags: [-1n, 0.5, null] }]).text).toBe(
    '[{"id":9223372036854775807,"name":"\\"Rex\\"","tags":[-1,0.5,null]}]',
  );
});

it('JsonPage parses its items once, when they are first read', () => {
  let calls = 0;
  const page = new JsonPage<number>(new JsonText('[1,2]'), { id: 2n }, (text) => {
    calls++;
    return JSON.parse(text) as number[];
  });
  expect([calls, page.next]).toEqual([0, { id: 2n }]);
  expect(page.items).toEqual([1, 2]);
  expect(page.items).toBe(page.items);
  expect(calls).toBe(1);
});
