import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { expectJson } from '../support/http-response.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const WITHOUT_KEY = { authorization: null };
const DOCUMENT = new URL('../../../../docs/openapi.json', import.meta.url);

describe.each(['/health/live', '/health/ready', '/openapi.json'])('%s', (path) => {
  it.each([
    ['without a key', null],
    ['with a wrong key', 'Bearer wrong'],
  ])('responds with 200 %s', async (_how, authorization) => {
    expect((await api.get(path, { authorization })).status).toBe(200);
    expect(await api.send('HEAD', path, { authorization })).toMatchObject({ status: 200, text: '' });
  });
});

describe('/openapi.json', () => {
  interface OpenApi {
    readonly servers: readonly { readonly url: string }[];
  }

  /** Drops what depends on the addresses of the deployment. */
  const withoutAddresses = (name: string, value: unknown) =>
    ['servers', 'example', 'examples', 'description'].includes(name) ? undefined : value;

  it('describes the same operations as docs/openapi.json', async () => {
    const response = await api.get('/openapi.json', WITHOUT_KEY);
    expectJson(response);
    expect(JSON.parse(response.text, withoutAddresses)).toEqual(JSON.parse(readFileSync(DOCUMENT, 'utf8'), withoutAddresses));
  });

  it('lists each server once, with the path of the version', async () => {
    const urls = (JSON.parse((await api.get('/openapi.json', WITHOUT_KEY)).text) as OpenApi).servers.map(({ url }) => url);
    expect(urls.length).toBeGreaterThan(0);
    expect(new Set(urls).size).toBe(urls.length);
    for (const url of urls) expect(url).toMatch(/\/v1$/);
  });
});
