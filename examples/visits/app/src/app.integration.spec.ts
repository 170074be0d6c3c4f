import { readFileSync } from 'node:fs';
import { useTestApp } from '@animal-store/api/testing/test-app';
import { waitFor } from '@animal-store/local-postgres/testing';
import { CancelOverdueVisits, CountVisit } from '@animal-store/visits-application';
import { VisitRepository, type Visit as DomainVisit } from '@animal-store/visits-domain';
import { type Visit, Visits } from './testing/visits-client.js';
import { Database } from '@animal-store/database';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { contexts } from './contexts.js';

type Json = Readonly<Record<string, unknown>>;

const service = useTestApp(['pets:read', 'pets:write', 'visits:read', 'visits:write'], { contexts });
const { send } = service;
let petId: number;
let nextSlot = 0;

/** Returns the body of a visit that overlaps no other one. */
function newBody(overrides: Json = {}): Json {
  const startsAt = new Date(Date.parse('2030-01-08T09:00:00Z') + 3_600_000 * nextSlot++).toISOString();
  return { petId, startsAt, durationMinutes: 30, reason: 'Vaccination', ...overrides };
}

const book = (overrides?: Json) => send('POST', '/v1/visits', { body: newBody(overrides) });

afterEach(() => void jest.restoreAllMocks());

beforeAll(async () => {
  petId = Number((await send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } })).json['id']);
});

// First, because it shows identifiers.
it('the guide shows what the service responds', async () => {
  const guide = readFileSync(new URL('../../guide.md', import.meta.url), 'utf8');
  const samples = [...guide.matchAll(/^```http\n(\w+) (\S+)\n(?:(\{.*)\n)?\n(\d+)\n(.*)\n```$/gm)];
  expect(samples).toHaveLength(5);
  for (const [, method = '', path = '', body, status, text] of samples) {
    const response = await send(method, path, body === undefined ? {} : { body: JSON.parse(body) as object });
    expect([response.status, response.text]).toEqual([Number(status), text]);
  }
});

it('the client books, lists, and repeats commands', async () => {
  const requests: string[] = [];
  const visits = new Visits({
    ...{ apiKey: service.key, baseURL: service.url, minRetryDelay: 1 },
    // Loses the response to the first attempt of each command.
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const command = `${String(init.method)} ${url}`;
      const isLost = /^(?:PATCH|DELETE) |cancel$/.test(command) && !requests.includes(command);
      requests.push(command);
      if (isLost) throw new Error('lost');
      return response;
    },
  });
  const booked = [];
  for (let slot = 0; slot < 3; slot++) {
    const { startsAt } = newBody();
    booked.push(await visits.create({ petId: BigInt(petId), startsAt: String(startsAt), durationMinutes: 30, reason: 'Check-up' }));
  }
  const [first, second, third] = booked as [Visit, Visit, Visit];
  expect(await visits.checkIn(first.id)).toEqual({ ...first, status: 'checked_in' });
  expect(await visits.cancel(second.id)).toEqual({ ...second, status: 'cancelled' });
  expect(requests.filter((request) => request.endsWith('cancel'))).toHaveLength(2);
  expect(await visits.retrieve(second.id)).toMatchObject({ status: 'cancelled' });
  expect(await visits.change(third.id, { notes: 'Bites' })).toEqual({ ...third, notes: 'Bites' });
  const listed: bigint[] = [];
  for await (const { id } of visits.list({ from: first.startsAt, sort: '-startsAt', limit: 2 })) listed.push(id);
  expect(listed).toEqual(booked.map(({ id }) => id).toReversed());
  expect(await visits.delete(third.id)).toBeUndefined();
  await expect(visits.delete(third.id)).rejects.toMatchObject({ status: 404, code: 'visit_not_found' });
});

describe('a visit', () => {
  it('is booked, with the ETag and the body of its GET', async () => {
    const body = newBody({ startsAt: '2029-12-31T23:30:00+02:00', notes: 'Bites' });
    const booked = await send('POST', '/v1/visits', { body });
    expect(booked).toMatchObject({ status: 201, json: { ...body, startsAt: '2029-12-31T21:30:00.000Z', status: 'booked' } });
    const found = await send('GET', booked.headers.get('location') ?? '');
    expect([found.text, found.headers.get('etag')]).toEqual([booked.text, booked.headers.get('etag')]);
    expect(await book({ notes: null })).toMatchObject({ status: 201, json: { notes: null } });
  });

  it('is rejected with its reason', async () => {
    const { json: first } = await book();
    const { status, json } = await book({ startsAt: '2030-02-30T09:00:00Z', durationMinutes: 4, reason: '', notes: '' });
    expect([status, json['message']]).toEqual([
      400,
      expect.stringMatching(/^notes must .*; startsAt must .*; durationMinutes must .*; reason must /),
    ]);
    expect(await book({ startsAt: first['startsAt'] })).toMatchObject({ status: 409, json: { code: 'visit_overlaps' } });
    expect(await book({ petId: -1 })).toMatchObject({ status: 422, json: { code: 'pet_unknown' } });
    const key = await service.createKey('visits:read');
    expect(await send('POST', '/v1/visits', { body: newBody(), key })).toMatchObject({ status: 403 });
  });

  it('is checked in or cancelled once, also if the request is repeated', async () => {
    const booked = await book();
    const path = booked.headers.get('location') ?? '';
    const [etag, headers] = [booked.headers.get('etag') ?? '', { 'idempotency-key': 'arrival' }];
    const changed = await send('POST', `${path}/check-in`, { headers: { ...headers, 'if-match': etag } });
    expect(changed).toMatchObject({ status: 200, json: { ...booked.json, status: 'checked_in' } });
    expect((await send('GET', path)).headers.get('etag')).toBe(changed.headers.get('etag'));

    const repeated = await send('POST', `${path}/check-in`, { headers: { ...headers, 'if-match': etag } });
    expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([changed.text, 'true']);
    expect(await send('POST', `${path}/cancel`, { headers })).toMatchObject({ status: 422, json: { code: 'idempotency_key_reused' } });
    expect(await send('POST', `${path}/cancel`, { headers: { 'if-match': etag } })).toMatchObject({ status: 412 });
    expect(await send('POST', `${path}/cancel`)).toMatchObject({ status: 409, json: { code: 'visit_not_booked' } });
    expect(await send('POST', '/v1/visits/-1/cancel')).toMatchObject({ status: 404, json: { code: 'visit_not_found' } });
  });

  it('is changed by a merge patch, with the precondition of its ETag', async () => {
    const booked = await book({ notes: 'Bites' });
    const path = booked.headers.get('location') ?? '';
    const headers = {
      'content-type': 'application/merge-patch+json',
      'if-match': booked.headers.get('etag') ?? '',
      'idempotency-key': 'patch',
    };
    const changed = await send('PATCH', path, { headers, body: { notes: null, durationMinutes: 20, status: 'cancelled' } });
    expect(changed).toMatchObject({ status: 200, json: { ...booked.json, notes: null, durationMinutes: 20 } });
    expect(await send('GET', path)).toMatchObject({ text: changed.text });
    const repeated = await send('PATCH', path, { headers, body: { durationMinutes: 20, notes: null } });
    expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([changed.text, 'true']);
    expect(await send('PATCH', path, { headers, body: { notes: null } })).toMatchObject({
      status: 422,
      json: { code: 'idempotency_key_reused' },
    });
    expect(await send('PATCH', path, { headers: { 'if-match': '"other"' }, body: {} })).toMatchObject({ status: 412 });
    expect(await send('PATCH', path, { body: { reason: null } })).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('reason') },
    });
    const other = await book();
    const overlapping = await send('PATCH', path, { body: { durationMinutes: 61 } });
    expect([other.status, overlapping.json['code']]).toEqual([201, 'visit_overlaps']);
  });

  it('is deleted once, also if the request is repeated with its key', async () => {
    const path = (await book()).headers.get('location') ?? '';
    const headers = { 'idempotency-key': 'delete' };
    expect(await send('DELETE', path, { headers: { 'if-match': '"other"' } })).toMatchObject({ status: 412 });
    expect(await send('DELETE', path, { headers })).toMatchObject({ status: 204, text: '' });
    const repeated = await send('DELETE', path, { headers });
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
    for (const method of ['GET', 'DELETE'])
      expect(await send(method, path)).toMatchObject({ status: 404, json: { code: 'visit_not_found' } });
  });

  it('has only the members of its DTO in responses, whatever the domain has', async () => {
    const { json } = await book();
    const repository = service.app.get(VisitRepository, { strict: false });
    const visit = { ...((await repository.find(BigInt(String(json['id'])))) as DomainVisit), margin: 7 };
    jest.spyOn(repository, 'find').mockResolvedValue(visit);
    jest.spyOn(repository, 'list').mockResolvedValue({ items: [visit] });
    jest.spyOn(repository, 'add').mockResolvedValue({ result: visit, replayed: false });
    expect((await send('GET', `/v1/visits/${String(json['id'])}`)).json).toEqual(json);
    expect((await book()).json).toEqual(json);
    expect((await send('GET', '/v1/visits')).json).toEqual([{ ...json, petName: 'Rex' }]);
  });

  it('is cancelled a day after it should have started, and frees its time', async () => {
    const overdue = newBody({ startsAt: '2020-01-07T09:00:00Z' });
    const path = (await send('POST', '/v1/visits', { body: overdue })).headers.get('location') ?? '';
    await service.app.get(CancelOverdueVisits, { strict: false }).execute();
    expect(await send('GET', path)).toMatchObject({ json: { status: 'cancelled' } });
    const run = `SELECT FROM jobs.runs WHERE name = 'visits-cancel-overdue'`;
    await waitFor(async () => expect(await service.app.get(Database).query(run)).toHaveLength(1));
    expect(await send('POST', '/v1/visits', { body: overdue })).toMatchObject({ status: 201 });
  });
});

describe('the report of a visit', () => {
  const PDF = Buffer.alloc(5 * 1024 * 1024, '%PDF-1.7 ');
  const type = 'application/pdf';
  const pathOf = async () => `${(await book()).headers.get('location') ?? ''}/report`;

  it('is sent and received as a file, once', async () => {
    let losses = 0;
    const visits = new Visits({
      ...{ apiKey: service.key, baseURL: service.url, minRetryDelay: 1 },
      // Loses the response to the first report.
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (losses++ === 1) throw new Error('lost');
        return response;
      },
    });
    const path = await pathOf();
    const id = BigInt(path.split('/')[3] ?? '');
    await expect(visits.report(id)).rejects.toMatchObject({ code: 'report_not_found' });
    const options = { idempotencyKey: 'report' };
    expect(await visits.addReport(id, new Blob([PDF], { type }), options)).toEqual({ id, size: PDF.length });
    const other = new Blob(['%PDF-2.0'], { type });
    await expect(visits.addReport(id, other, options)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await expect(visits.addReport(-1n, other)).rejects.toMatchObject({ code: 'visit_not_found' });
    await expect(visits.addReport(id, new Blob([PDF], { type }))).rejects.toMatchObject({ code: 'report_exists' });
    expect(Buffer.from(await visits.report(id)).equals(PDF)).toBe(true);
    const { status, headers } = await fetch(service.url + path, { method: 'HEAD', headers: { authorization: `Bearer ${service.key}` } });
    expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, type, String(PDF.length)]);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="visit-${String(id)}.pdf"`);
  });

  it.each([
    [413, 'payload_too_large', 'The body is larger than 5242880 bytes.', Buffer.alloc(PDF.length + 1), {}],
    [415, 'unsupported_media_type', 'The body must be application/pdf without a Content-Encoding.', PDF, { 'content-type': 'text/plain' }],
    [400, 'invalid_request', 'The body must not be empty.', '', {}],
    [401, 'invalid_api_key', 'The API key is not valid.', Buffer.alloc(PDF.length + 1), { authorization: 'Bearer wrong' }],
  ])('is rejected with %i %s: %s', async (status, code, message, body, others) => {
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': type, ...others };
    const response = await fetch(service.url + (await pathOf()), { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([status, { code, message, status }]);
  });

  it('is documented', async () => {
    const { json } = await send('GET', '/openapi.json');
    const schema = { type: 'string', format: 'binary' };
    expect((json['paths'] as Json)['/visits/{visitId}/report']).toMatchObject({
      get: { responses: { 200: { content: { [type]: { schema } } } } },
      post: {
        requestBody: { required: true, content: { [type]: { schema: { ...schema, maxLength: PDF.length } } } },
        responses: { 413: { $ref: '#/components/responses/PayloadTooLargeOfAddReport' } },
      },
    });
  });
});

describe('the list of visits', () => {
  it.each(['startsAt', '-startsAt'])('has links in the order %s, with filters and a range', async (sort) => {
    const { json: pet } = await send('POST', '/v1/pets', { body: { name: 'Mia', categoryId: 1 } });
    const booked: Json[] = [];
    for (let count = 0; count < 5; count++) booked.push((await book({ petId: pet['id'], notes: 'Bites' })).json);
    const expected = booked.slice(1, 4);
    const [from, to] = [booked[1]?.['startsAt'], booked[4]?.['startsAt']].map(String);
    const visited: unknown[] = [];
    let next: string | undefined = `/v1/visits?limit=2&status=booked&petId=${String(pet['id'])}&sort=${sort}&from=${from}&to=${to}`;
    while (next) {
      const page = await send('GET', next);
      visited.push(...(page.json as unknown as Json[]));
      next = /<(.*)>/.exec(page.headers.get('link') ?? '')?.[1];
    }
    const listed = expected.map((visit) => ({ ...visit, petName: 'Mia' }));
    expect(visited).toEqual(sort === 'startsAt' ? listed : listed.toReversed());
  });

  it.each(['sort=reason', 'from=yesterday', 'cursor=AAAA'])('responds to %s with 400', async (query) => {
    expect(await send('GET', `/v1/visits?${query}`)).toMatchObject({ status: 400, json: { code: 'invalid_request' } });
  });
});

it('the visits of each day are counted once, without cancelled ones, also if an attempt fails', async () => {
  const database = service.app.get(Database);
  const handled = () => waitFor(async () => expect(await database.query('SELECT FROM events.deliveries')).toEqual([]));
  await handled();
  const countVisit = service.app.get(CountVisit, { strict: false });
  const execute = countVisit.execute.bind(countVisit);
  jest.spyOn(countVisit, 'execute').mockImplementationOnce(async (...args) => {
    await execute(...args);
    throw new Error('once');
  });
  const [first, second] = [await book({ startsAt: '2031-05-01T09:00:00Z' }), await book({ startsAt: '2031-05-01T10:00:00Z' })];
  expect([first.status, second.status]).toEqual([201, 201]);
  await send('POST', `${first.headers.get('location') ?? ''}/cancel`);
  await handled();
  expect(await database.query(`SELECT visits FROM visits.days WHERE day = '2031-05-01'`)).toEqual([{ visits: 1 }]);
});

it('a visit has treatments, which are added once', async () => {
  const path = `${(await book()).headers.get('location') ?? ''}/treatments`;
  const headers = { 'idempotency-key': 'treatment' };
  const added = await send('POST', path, { body: { name: 'X-ray' }, headers });
  expect([added.status, added.headers.has('location'), added.headers.has('idempotent-replayed')]).toEqual([201, false, false]);
  const repeated = await send('POST', path, { body: { name: 'X-ray' }, headers });
  expect([repeated.text, repeated.headers.get('idempotent-replayed')]).toEqual([added.text, 'true']);
  expect(await send('POST', path, { body: { name: '' } })).toMatchObject({ status: 400 });
  await send('POST', path, { body: { name: 'Bandage' } });
  const first = await send('GET', `${path}?limit=1`);
  expect(first.text).toBe(`[${added.text}]`);
  const next = /<(.*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  expect((await send('GET', next)).json).toMatchObject([{ name: 'Bandage' }]);
  const other = (await book()).headers.get('location') ?? '';
  for (const list of [`${other}/treatments`, '/v1/pets']) {
    const response = await send('GET', list + next.slice(next.indexOf('?')));
    expect(response).toMatchObject({ status: 400, json: { code: 'invalid_request', message: expect.stringContaining('cursor') } });
  }
  for (const [method, body] of [['GET'], ['POST', { name: 'X-ray' }]] as const)
    expect(await send(method, '/v1/visits/-1/treatments', { body })).toMatchObject({
      status: 404,
      json: { code: 'visit_not_found' },
    });
});

// Last, because it uses up the limit of the client.
it('creations are limited to 60 a minute', async () => {
  const responses = await Promise.all(Array.from({ length: 61 }, () => send('POST', '/v1/visits', { body: {} })));
  const limited = responses.find(({ status }) => status === 429);
  expect(limited?.headers.get('ratelimit-policy')).toContain('"visits";q=60;w=60');
  expect((await send('GET', '/v1/visits')).status).toBe(200);
});
