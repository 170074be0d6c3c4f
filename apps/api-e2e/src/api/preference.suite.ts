import { describe, expect, it } from '@jest/globals';
import type { RequestOptions } from '../support/api.js';
import { NEW_PET } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const STRICT = { prefer: 'handling=strict' };
const JSON_BODY = { 'content-type': 'application/json' };

describe('Prefer: handling=strict', () => {
  it.each<[status: number, what: string, method: string, path: string, options: RequestOptions]>([
    [200, 'a list', 'GET', '/v1/pets?limit=1', {}],
    [400, 'an unknown query parameter', 'GET', '/v1/pets?colour=brown', {}],
    [404, 'an unknown pet', 'GET', '/v1/pets/-1', {}],
    [201, 'a creation', 'POST', '/v1/pets', { headers: JSON_BODY, body: NEW_PET }],
    [400, 'an unknown member', 'POST', '/v1/pets', { headers: JSON_BODY, body: '{"name":"Rex","categoryId":7,"colour":"brown"}' }],
    [413, 'a body above 64 KiB', 'POST', '/v1/pets', { headers: JSON_BODY, body: `"${'x'.repeat(64 * 1024)}"` }],
    [415, 'another content type', 'POST', '/v1/pets', { headers: { 'content-type': 'text/plain' }, body: 'Rex' }],
  ])('is reported as applied with status %i: %s', async (status, _what, method, path, options) => {
    const response = await api.send(method, path, { ...options, headers: { ...options.headers, ...STRICT } });
    expect([response.status, response.headers['preference-applied']]).toEqual([status, 'handling=strict']);
  });

  it('is not reported without the preference', async () => {
    expect((await api.get('/v1/pets/-1')).headers).not.toHaveProperty('preference-applied');
  });
});
