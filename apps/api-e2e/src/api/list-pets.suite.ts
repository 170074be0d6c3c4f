import { beforeAll, describe, expect, it } from '@jest/globals';
import { type HttpResponse, expectError, expectJson, linksOf } from '../support/http-response.js';
import { readPets } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const STATUSES = ['available', 'pending', 'sold'] as const;

/** Returns the query parameters of the `next` link. */
function next(response: HttpResponse): URLSearchParams {
  const [target = '', ...others] = linksOf(response, 'next');
  expect(others).toEqual([]);
  expect(target).toMatch(/\/v1\/pets\?/);
  return new URL(target, api.url).searchParams;
}

async function cursorOf(query: string): Promise<string> {
  const cursor = next(await api.get(`/v1/pets${query}`)).get('cursor');
  expect(cursor).toMatch(/./);
  return cursor ?? '';
}

// Enough for a second page of the default size, even in an empty deployment.
beforeAll(async () => {
  await Promise.all(Array.from({ length: 24 }, (_, index) => api.createPet({ status: STATUSES[index % 3] ?? 'sold' })));
});

describe('listPets: limit', () => {
  it('defaults to 20', async () => {
    const response = await api.get('/v1/pets');
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, no-cache']);
    expectJson(response);
    expect(readPets(response.text)).toHaveLength(20);
  });

  it.each(['1', '2', '9', '10', '19', '20', '21', '%31', '1%30'])('limit=%s returns that number of pets', async (limit) => {
    expect(await api.listPets(`?limit=${limit}`)).toHaveLength(Number(decodeURIComponent(limit)));
  });

  it.each(['', '0', '01', '101', '1000', '9'.repeat(1_000), '-1', '%2B1', '1.0', '%201', '1%00', '%D9%A1', 'ten', '%zz'])(
    'responds with 400 to limit=%s',
    async (limit) => {
      expect(expectError(await api.get(`/v1/pets?limit=${limit}`), 'invalid_request')).toContain('limit');
    },
  );
});

describe('listPets: status', () => {
  it.each(['', 'Available', 'SOLD', 'lost', 'sold%20', '%20sold', 'sold%00', 'available,sold', 'null', '__proto__', 'toString', '%zz'])(
    'responds with 400 to status=%s',
    async (status) => {
      expect(expectError(await api.get(`/v1/pets?status=${status}`), 'invalid_request')).toContain('status');
    },
  );
});

describe('listPets: id', () => {
  it.each(['', '&limit=1', '&limit=100'])('returns only that pet, without a next page (%s)', async (limit) => {
    const pet = await api.createPet({ categoryId: 9007199254740993n });
    const response = await api.get(`/v1/pets?id=${pet.id}${limit}`);
    expect(response.status).toBe(200);
    expect(readPets(response.text)).toEqual([pet]);
    expect(response.headers).not.toHaveProperty('link');
    const tag = response.headers['etag'] ?? '';
    expect(await api.get(`/v1/pets?id=${pet.id}${limit}`, { headers: { 'if-none-match': tag } })).toMatchObject({ status: 304, text: '' });
    expect(await api.send('HEAD', `/v1/pets?id=${pet.id}${limit}`)).toMatchObject({ status: 200, text: '', headers: { etag: tag } });
  });

  it('returns the pet only if its status matches the status filter', async () => {
    const pet = await api.createPet({ status: 'sold' });
    expect(await api.listPets(`?status=sold&id=${pet.id}`)).toEqual([pet]);
    expect(await api.listPets(`?status=pending&id=${pet.id}`)).toEqual([]);
  });

  it.each(['0', '-1', '-0', '-9223372036854775808', '9223372036854775807'])('id=%s returns an empty page', async (id) => {
    expect(await api.get(`/v1/pets?id=${id}`)).toMatchObject({ status: 200, text: '[]' });
  });

  it.each(['', '-', '01', '%2B1', '1.0', '1%00', '%D9%A1', 'one', '%zz', '9223372036854775808', '9'.repeat(1_000)])(
    'responds with 400 to id=%s',
    async (id) => {
      const message = expectError(await api.get(`/v1/pets?id=${id}`), 'invalid_request');
      expect(message).toBe('id must be an integer from -9223372036854775808 to 9223372036854775807');
    },
  );

  it('is reported together with the other invalid parameters', async () => {
    const message = expectError(await api.get('/v1/pets?id=x&limit=0&status=lost'), 'invalid_request');
    for (const name of ['id', 'limit', 'status']) expect(message).toMatch(new RegExp(`\\b${name} must\\b`));
  });

  it('rejects the cursor of a list without the id filter', async () => {
    const cursor = encodeURIComponent(await cursorOf('?limit=1'));
    const [pet] = await api.listPets('?limit=1');
    expect(expectError(await api.get(`/v1/pets?limit=1&id=${pet?.id}&cursor=${cursor}`), 'invalid_request')).toContain('cursor');
  });
});

describe('listPets: query', () => {
  it.each(['?', '?=1', '?unknown=%zz', '?limit[]=0', '?Limit=0', '?__proto__[limit]=0', `?${'a=&'.repeat(1_200)}`])(
    'ignores the unknown parameters of %.20s',
    async (query) => {
      expect(await api.listPets(query)).toHaveLength(20);
    },
  );

  it('decodes a percent-encoded parameter name', async () => expect(await api.listPets('?%6Cimit=3')).toHaveLength(3));

  it.each(['?limit', '?status', '?cursor', '?id', '?cursor='])(
    'responds with 400 to %s: a known parameter must not be empty',
    async (query) => {
      expectError(await api.get(`/v1/pets${query}`), 'invalid_request');
    },
  );

  it.each(['?limit=5&limit=5', '?limit=5&%6Cimit=5', '?status=sold&x=1&status=pending', '?cursor=a&cursor=a', '?id=5&id=6'])(
    'responds with 400 to %s: a known parameter must not be repeated',
    async (query) => {
      expectError(await api.get(`/v1/pets${query}`), 'invalid_request');
    },
  );
});

describe('listPets: paging', () => {
  it('links to the next page from a 304, too', async () => {
    const { headers } = await api.get('/v1/pets?limit=1');
    const current = await api.get('/v1/pets?limit=1', { headers: { 'if-none-match': headers['etag'] ?? '' } });
    expect(current).toMatchObject({ status: 304, headers: { link: headers['link'] } });
  });

  it('links with limit, status and a cursor only', async () => {
    const parameters = next(await api.get('/v1/pets?status=sold&limit=2&colour=brown'));
    expect(Object.fromEntries(parameters)).toEqual({ limit: '2', status: 'sold', cursor: expect.any(String) });
    expect([...next(await api.get('/v1/pets')).keys()].sort()).toEqual(['cursor', 'limit']);
  });

  it.each([
    ['?status=sold&limit=1', '?status=available&limit=1'],
    ['?status=sold&limit=1', '?limit=1'],
    ['?limit=1', '?status=sold&limit=1'],
  ])('rejects the cursor of %s for %s', async (of, used) => {
    const cursor = encodeURIComponent(await cursorOf(of));
    expect((await api.get(`/v1/pets${of}&cursor=${cursor}`)).status).toBe(200);
    expect(expectError(await api.get(`/v1/pets${used}&cursor=${cursor}`), 'invalid_request')).toContain('cursor');
  });

  it.each(['1', 'eyJpZCI6MX0', '%00', '%zz', '%F0%9F%90%95', "'%20OR%201=1--", 'A'.repeat(2_000), '__proto__'])(
    'rejects %.20s, which is not a cursor',
    async (cursor) => expect(expectError(await api.get(`/v1/pets?cursor=${cursor}`), 'invalid_request')).toContain('cursor'),
  );
});
