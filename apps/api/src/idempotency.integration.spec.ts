import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from './testing/test-app.js';

describe('Idempotency-Key on createPet', () => {
  let service: TestApp;
  let key: string;

  beforeAll(async () => {
    service = await startTestApp();
    key = await service.createKey('pets:read', 'pets:write');
  });

  afterAll(() => service.close());

  async function create(idempotencyKey: string, body: string) {
    const response = await fetch(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body,
    });
    const { headers, status } = response;
    return { status, text: await response.text(), location: headers.get('location'), replayed: headers.get('idempotent-replayed') };
  }

  it('returns the first response to a repeated request, even if the body is formatted differently', async () => {
    const first = await create('"order-1"', '{"name":"Rex","categoryId":9007199254740993}');
    expect(first).toMatchObject({ status: 201, replayed: null });
    for (const [idempotencyKey, body] of [
      ['order-1', '{"name":"Rex","categoryId":9007199254740993}'],
      ['"order-1"', '{ "categoryId": 9007199254740993.0, "status": "available", "name": "R\\u0065x", "other": 1 }'],
    ] as const) {
      expect(await create(idempotencyKey, body)).toEqual({ ...first, replayed: 'true' });
    }
  });

  it('creates one animal for many concurrent requests', async () => {
    const responses = await Promise.all(Array.from({ length: 50 }, () => create('at-once', '{"name":"Only","categoryId":1}')));
    expect(new Set(responses.map(({ status, text, location }) => `${String(status)} ${text} ${String(location)}`)).size).toBe(1);
    expect(responses.filter(({ replayed }) => replayed === null)).toHaveLength(1);
  });

  it('is rejected for a different animal, and if it is malformed', async () => {
    await create('order-2', '{"name":"Rex","categoryId":1}');
    const reused = await create('order-2', '{"name":"Rex","categoryId":2}');
    expect([reused.status, JSON.parse(reused.text)]).toEqual([
      422,
      { code: 'idempotency_key_reused', message: expect.any(String), status: 422 },
    ]);
    for (const malformed of ['a b', '"a', '', '"a b"', 'x'.repeat(256)]) {
      const refused = await create(malformed, '{"name":"Rex","categoryId":1}');
      expect([malformed, refused.status, (JSON.parse(refused.text) as { code: string }).code]).toEqual([malformed, 400, 'invalid_request']);
    }
  });

  it('is only stored for successful creations', async () => {
    expect((await create('order-3', '{"name":"","categoryId":1}')).status).toBe(400);
    expect(await create('order-3', '{"name":"Rex","categoryId":1}')).toMatchObject({ status: 201, replayed: null });
  });
});
