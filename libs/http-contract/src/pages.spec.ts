import { DomainError, INT64_MAX, JsonText, type Page } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { fastify, type FastifyReply } from 'fastify';
import { decodeCursor, encodeCursor } from './cursor.js';
import { answerCreated } from './created.js';
import { IdPipe } from './id.pipe.js';
import { answerPage, pageHeaders, PageQueryOf } from './pages.js';
import { useCase } from './use-case.js';

class ListToysQuery extends PageQueryOf('toys') {
  colour?: string;
  size?: bigint;
}

const query = (values: Partial<ListToysQuery>) => Object.assign(new ListToysQuery(), values);

async function answer(work: (reply: FastifyReply) => JsonText): Promise<{ body: string; headers: Record<string, unknown> }> {
  const app = fastify().get('/', (_request, reply) => work(reply).text);
  const { body, headers } = await app.inject('/');
  return { body, headers };
}

describe('a page', () => {
  const items: Page<object> = { items: new JsonText('[{"id":1}]') };

  it('is answered with its items, and no Link when it is the last', async () => {
    const { body, headers } = await answer((reply) => answerPage(reply, '/v1/toys', query({}), items));
    expect([body, headers['link']]).toEqual(['[{"id":1}]', undefined]);
  });

  it('leads to the next one with the same limit and filters, percent-encoded, and a cursor that belongs to them', async () => {
    const asked = query({ limit: 7, colour: 'red & "blue"', size: 9n });
    const { headers } = await answer((reply) => answerPage(reply, 'https://toys.example/v1/toys', asked, { ...items, next: INT64_MAX }));
    const [, address = ''] = /^<(.+)>; rel="next"$/.exec(String(headers['link'])) ?? [];
    const { origin, pathname, searchParams } = new URL(address);
    expect([origin, pathname]).toEqual(['https://toys.example', '/v1/toys']);
    const { cursor, ...others } = Object.fromEntries(searchParams);
    expect(others).toEqual({ limit: '7', colour: 'red & "blue"', size: '9' });
    expect(decodeCursor(cursor, { colour: 'red & "blue"', size: 9n })).toBe(INT64_MAX);
    expect(decodeCursor(cursor, { colour: 'red', size: 9n })).toBeUndefined();
  });

  it('begins after the identifier of its cursor, for the filters of that cursor alone', () => {
    const cursor = encodeCursor(5n, { colour: 'red' });
    expect(query({ cursor, colour: 'red' }).after).toBe(5n);
    expect(query({ cursor, colour: 'blue' }).after).toBeUndefined();
    expect(query({}).after).toBeUndefined();
  });

  it('is documented with an example that works', () => {
    const { example } = pageHeaders('/v1/toys', { colour: 'red' }).Link;
    const [, cursor] = /^<\/v1\/toys\?limit=20&colour=red&cursor=(.+)>; rel="next"$/.exec(example) ?? [];
    expect(decodeCursor(cursor, { colour: 'red' })).toBe(20n);
  });
});

it.each([
  [false, undefined],
  [true, 'true'],
])('a creation is answered with its address; replayed: %s', async (replayed, header) => {
  const { headers } = await answer((reply) => answerCreated(reply, '/v1/toys/7', new JsonText('{"id":7}'), replayed));
  expect([headers['location'], headers['idempotent-replayed']]).toEqual(['/v1/toys/7', header]);
});

it('an identifier is an exact int64, and any other text is not found', () => {
  const notFound = { code: 'toy_not_found', kind: 'not_found', message: 'No toy has this identifier.' } as const;
  const pipe = new IdPipe(notFound);
  expect(pipe.transform('9223372036854775807')).toBe(INT64_MAX);
  for (const text of ['9223372036854775808', '1.0', 'seven', '']) {
    expect(() => pipe.transform(text)).toThrow(DomainError);
    expect(() => pipe.transform(text)).toThrow(expect.objectContaining(notFound));
  }
});

it('a use case is made of the ports that it asks for', () => {
  abstract class Toys {
    abstract count(): number;
  }
  class CountToys {
    constructor(readonly toys: Toys) {}
  }
  const { provide, inject, useFactory } = useCase(CountToys, Toys);
  const toys: Toys = { count: () => 3 };
  expect([provide, inject]).toEqual([CountToys, [Toys]]);
  expect(useFactory(toys)).toMatchObject({ toys });
});
