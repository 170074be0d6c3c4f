import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApp, type TestApp } from '../testing/test-app.js';

describe('Prefer: handling=strict', () => {
  let service: TestApp;
  let key: string;

  beforeAll(async () => {
    service = await startTestApp();
    key = await service.createKey('pets:read', 'pets:write');
    await send('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}' });
  });

  afterAll(() => service.close());

  async function send(method: string, path: string, { body, prefer = 'handling=strict' }: { body?: string; prefer?: string } = {}) {
    const headers = { Authorization: `Bearer ${key}`, Prefer: prefer, ...(body && { 'Content-Type': 'application/json' }) };
    const response = await fetch(service.url + path, { method, headers, ...(body && { body }) });
    const text = await response.text();
    return { status: response.status, applied: response.headers.get('preference-applied'), text };
  }

  it.each([
    ['POST', '/v1/pets', '{"name":"Rex","categoryId":1,"id":7}', '\\"id\\" is not a known member'],
    ['POST', '/v1/pets', '{"name":"","categoryId":1,"__proto__":{},"constructor":1}', 'name must be'],
    ['POST', '/v1/pets?dry=1', '{"name":"Rex","categoryId":1}', '\\"dry\\" is not a known query parameter'],
    ['GET', '/v1/pets?limit=1&page=2', undefined, '\\"page\\" is not a known query parameter'],
    ['GET', '/v1/pets?__proto__=1', undefined, '\\"__proto__\\" is not a known query parameter'],
    ['GET', '/v1/pets/1?expand=category', undefined, '\\"expand\\" is not a known query parameter'],
  ])('rejects unknown members or parameters of %s %s %s', async (method, path, body, message) => {
    const refused = await send(method, path, body ? { body } : {});
    expect([refused.status, refused.applied, refused.text]).toEqual([400, 'handling=strict', expect.stringContaining(message)]);
    const lenient = await send(method, path.replace('dry=1', ''), {
      ...(body && { body: body.replace('""', '"Rex"') }),
      prefer: 'handling=lenient',
    });
    expect([lenient.status < 300, lenient.applied]).toEqual([true, null]);
  });

  it('reports all errors of a body together', async () => {
    const { text } = await send('POST', '/v1/pets', { body: '{"name":"","categoryId":"1","id":7,"colour":"red"}' });
    expect(JSON.parse(text)).toMatchObject({
      message: expect.stringMatching(/^name must .*; categoryId must .*; "id" is not a known member; "colour" is not a known member$/),
    });
  });

  it('reports all errors of a query together', async () => {
    const { text } = await send('GET', '/v1/pets?limit=0&status=lost&page=2&sort=name');
    expect(JSON.parse(text)).toMatchObject({
      message: expect.stringMatching(
        /^status must .*; limit must .*; "page" is not a known query parameter; "sort" is not a known query parameter$/,
      ),
    });
  });

  it('is reported as applied if nothing is rejected', async () => {
    for (const [method, path] of [
      ['GET', '/v1/pets?limit=1&status=sold'],
      ['GET', '/v1/pets/1'],
    ] as const) {
      expect(await send(method, path)).toMatchObject({ status: 200, applied: 'handling=strict' });
    }
    expect(await send('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1,"status":"sold"}' })).toMatchObject({
      status: 201,
      applied: 'handling=strict',
    });
  });
});
