import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { expectError, expectJson, expectStatus } from '../support/http-response.js';
import { INT64_MAX, INT64_MIN, int64, petName } from '../support/arbitraries.js';
import { NEW_PET, readPet } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();

describe('preconditions of createPet', () => {
  const BODY = '{"name":"Rex","categoryId":7,"status":"pending"}';
  const countPending = async () => (await api.listPets('?status=pending&limit=100')).length;

  it.each([
    { 'if-none-match': '*' },
    { 'if-none-match': '"x"' },
    { 'if-match': '*' },
    { 'if-match': '"x"' },
    { 'if-match': 'W/"x", "y"' },
    { 'if-match': 'x' },
  ])('%j is rejected with 412 and adds nothing', async (headers) => {
    const before = await countPending();
    expectError(await api.create(BODY, { headers }), 'precondition_failed');
    expectError(await api.create(BODY, { headers, authorization: null }), 'missing_api_key');
    expect(await countPending()).toBe(before);
  });

  // There are no modification dates (RFC 9110, sections 13.1.3 and 13.1.4).
  it.each([{ 'if-unmodified-since': new Date(0).toUTCString() }, { 'if-modified-since': new Date(4e12).toUTCString() }])(
    '%j is ignored',
    async (headers) => {
      expectStatus(await api.create(BODY, { headers }), 201);
    },
  );

  it('rejects a part of a body', async () => {
    const headers = { 'content-range': 'bytes 0-48/100' };
    expectError(await api.create(BODY, { headers }), 'invalid_request');
    expectError(await api.create(BODY, { headers, authorization: null }), 'missing_api_key');
  });
});

describe('createPet: POST /v1/pets', () => {
  it('responds with 201, exactly the Pet and its Location', async () => {
    const response = await api.create('{"name":"Rex","categoryId":7,"status":"pending"}');
    expect(response.status).toBe(201);
    expectJson(response);
    const pet = readPet(response.text);
    expect(pet).toMatchObject({ name: 'Rex', categoryId: 7n, status: 'pending' });
    expect(response.headers['location']).toMatch(new RegExp(`/v1/pets/${pet.id}$`));
  });

  it('assigns a unique id to each pet, also to pets added concurrently', async () => {
    const pets = await Promise.all(Array.from({ length: 30 }, () => api.createPet()));
    expect(new Set(pets.map(({ id }) => id)).size).toBe(pets.length);
  });

  it('accepts a Pet that it returned and creates a new pet', async () => {
    const first = await api.create('{"name":"Rex","categoryId":9007199254740993,"status":"sold"}');
    const second = await api.create(first.text);
    expect(second.status).toBe(201);
    const { id, ...rest } = readPet(second.text);
    expect(readPet(first.text)).toMatchObject(rest);
    expect(id).not.toBe(readPet(first.text).id);
  });
});

describe('createPet: status', () => {
  it('defaults to available', async () => {
    const response = await api.create(NEW_PET);
    expect(readPet(response.text).status).toBe('available');
  });

  it.each(['null', '"Available"', '"toString"', '1', '["sold"]'])('rejects %s and lists the allowed values', async (status) => {
    const message = expectError(await api.create(`{"name":"Rex","categoryId":7,"status":${status}}`), 'invalid_request');
    for (const part of ['status', 'available', 'pending', 'sold']) expect(message).toContain(part);
  });
});

describe('createPet: name', () => {
  it('is stored and returned exactly as sent, escaped or not', async () => {
    await fc.assert(
      fc.asyncProperty(petName, fc.boolean(), async (name, escape) => {
        const response = await api.create(`{"name":${escape ? escaped(name) : JSON.stringify(name)},"categoryId":7}`);
        expectStatus(response, 201);
        expect(readPet(response.text).name).toBe(name);
        const fetched = await api.follow(response.headers['location'] ?? '');
        expect(readPet(fetched.text).name).toBe(name);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['surrounding white space', ' \t Rex \n '],
    ['quotes and backslashes', `"'\\"; DROP TABLE pets; --`],
    ['255 code points, two units each', '🐕'.repeat(255)],
  ])('may contain %s', async (_what, name) => {
    expect((await api.createPet({ name })).name).toBe(name);
  });

  it.each([
    ['an empty string', '""'],
    ['white space', '" \\t\\u3000"'],
    ['null', 'null'],
    ['a number', '7'],
    ['U+0000', '"Re\\u0000x"'],
    ['256 code points of two units each', `"${'🐕'.repeat(256)}"`],
  ])('rejects %s', async (_what, name) => expectNameRejected(await api.create(`{"name":${name},"categoryId":7}`)));

  function expectNameRejected(response: Awaited<ReturnType<typeof api.create>>): void {
    const message = expectError(response, 'invalid_request');
    expect(message).toMatch(/\bname\b/);
    expect(message).not.toMatch(/\b(?:categoryId|status)\b/);
  }

  function escaped(text: string): string {
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, '0'));
    return `"${units.map((unit) => `\\u${unit}`).join('')}"`;
  }
});

describe('createPet: categoryId', () => {
  it.each(['9.007199254740992E15', '-9007199254740992.0', '1e18'])('rejects %s, which has lost digits on its way', async (categoryId) => {
    const message = expectError(await api.create(`{"name":"Rex","categoryId":${categoryId}}`), 'invalid_request');
    expect(message).toMatch(/^categoryId must be an integer .* has lost digits$/);
  });

  it('is any int64, exact in the response and in getPet at the Location', async () => {
    await fc.assert(
      fc.asyncProperty(int64, async (categoryId) => {
        const created = await api.create(`{"name":"Rex","categoryId":${categoryId}}`);
        expectStatus(created, 201);
        expect(readPet(created.text).categoryId).toBe(categoryId);
        expect(created.text).toMatch(new RegExp(`"categoryId"\\s*:\\s*${categoryId}\\s*[,}]`));
        const fetched = await api.follow(created.headers['location'] ?? '');
        expect(readPet(fetched.text)).toEqual(readPet(created.text));
      }),
      {
        numRuns: 30,
        examples: [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX, INT64_MAX - 1n, INT64_MIN, INT64_MIN + 1n, 0n].map((value) => [
          value,
        ]),
      },
    );
  });

  it.each(['"7"', 'null', '7.5', '9223372036854775808', '1e999999999', `1${'0'.repeat(60_000)}`])('rejects %.20s', async (categoryId) => {
    const message = expectError(await api.create(`{"name":"Rex","categoryId":${categoryId}}`), 'invalid_request');
    expect(message).toMatch(/\bcategoryId\b.*\b(?:integer|int64)\b/);
    expect(message).not.toMatch(/\b(?:name|status)\b/);
  });
});

describe('createPet: several violations', () => {
  it.each([
    ['{}', ['name', 'categoryId']],
    ['{"name":"Rex"}', ['categoryId']],
    ['{"name":"","categoryId":"7","status":"lost"}', ['name', 'categoryId', 'status']],
    ['{"Name":"Rex","categoryid":7,"category_id":7}', ['name', 'categoryId']],
  ])('responds to %s with one 400 that names %j and its rules', async (body, offending) => {
    const message = expectError(await api.create(body), 'invalid_request');
    const rules = { name: /\bname\b[^;]*255/, categoryId: /\bcategoryId\b[^;]*integer/, status: /\bstatus\b[^;]*available[^;]*sold/ };
    expect(Object.entries(rules).flatMap(([field, rule]) => (rule.test(message) ? [field] : []))).toEqual(offending);
  });
});

describe('createPet: unknown members', () => {
  it.each([
    ['ordinary members', '"id":1,"color":"brown","tags":["a",{"b":null}]'],
    ['numbers out of range', '"x":1e999999999,"y":123456789012345678901234567890.5'],
    ['lone surrogates and an empty name', '"x":"\\ud83d","\\udc15":1,"":1'],
    ['names of Object.prototype', '"toString":1,"valueOf":null,"hasOwnProperty":false,"toJSON":{},"then":"x"'],
    ['prototypes', '"__proto__":{"status":"sold"},"\\u005f_proto__":{"status":"sold"},"constructor":{"prototype":{"status":"sold"}}'],
    ['any number of members', Array.from({ length: 5_000 }, (_, index) => `"m${index}":${index % 10}`).join()],
  ])('ignores %s', async (_what, members) => {
    const response = await api.create(`{"name":"Rex",${members},"categoryId":7}`);
    expectStatus(response, 201);
    expect(readPet(response.text)).toMatchObject({ name: 'Rex', categoryId: 7n, status: 'available' });
  });

  it.each(['__proto__', 'constructor', 'prototype'])('%s adds no member to this body or a later one', async (member) => {
    const message = expectError(await api.create(`{"${member}":{"name":"Rex","categoryId":7}}`), 'invalid_request');
    expect(message).toMatch(/\bname\b/);
    expectError(await api.create('{}'), 'invalid_request');
    expect((await api.createPet()).status).toBe('available');
  });
});

describe('createPet: Idempotency-Key', () => {
  const run = randomUUID();
  const create = (key: string, body: string) => api.create(body, { headers: { 'idempotency-key': key } });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['7', '7.0'],
    ['7', '7e0'],
  ])('returns the first response to a repeated request, even if the body is formatted differently: %s, %s', async (number, repeated) => {
    const key = `${run}-${number}-${repeated}`;
    const plain = `{"name":"Rex","categoryId":${number}}`;
    const first = await create(`"${key}"`, plain);
    expectStatus(first, 201);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const formatted = `{ "categoryId": ${repeated}, "status": "available", "name": "R\\u0065x", "other": 1 }`;
    for (const { status, text, headers } of [await create(key, plain), await create(`"${key}"`, formatted)]) {
      expect([status, text]).toEqual([201, first.text]);
      expect(headers).toMatchObject({ location: first.headers['location'], 'idempotent-replayed': 'true' });
    }
  });

  it('is rejected for a different animal', async () => {
    await create(`${run}-2`, NEW_PET);
    expectError(await create(`${run}-2`, '{"name":"Rex","categoryId":8}'), 'idempotency_key_reused');
  });

  it('is only stored for successful creations', async () => {
    expectError(await create(`${run}-3`, '{"name":"","categoryId":1}'), 'invalid_request');
    expectStatus(await create(`${run}-3`, NEW_PET), 201);
  });
});
