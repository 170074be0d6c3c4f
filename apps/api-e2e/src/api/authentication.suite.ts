import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { expectError, expectStatus, type HttpResponse } from '../support/http-response.js';
import type { RequestOptions } from '../support/api.js';
import { checksumOf, unknownKey, withoutChecksum, withTypo } from '../support/keys.js';
import { NEW_PET } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const JSON_BODY = { 'content-type': 'application/json' };

/** Values of `Authorization` that are rejected, some of them built from a valid key, and the expected error codes. */
const REJECTED: readonly [string, (key: string) => string | readonly string[], ...string[]][] = [
  ['an empty header', () => '', 'missing_api_key'],
  ['the key without a scheme', (key) => key, 'missing_api_key'],
  ['the Basic scheme', () => 'Basic c3VpdGU6c2VjcmV0', 'missing_api_key'],
  ['a missing space after the scheme', (key) => `Bearer${key}`, 'missing_api_key'],
  ['the scheme alone', () => 'Bearer', 'missing_api_key', 'invalid_api_key'],
  ['4,000 characters', () => `Bearer ${'a'.repeat(4_000)}`, 'invalid_api_key'],
  ['non-ASCII bytes', (key) => `Bearer ${key}é`, 'invalid_api_key'],
  ['the key in quotes', (key) => `Bearer "${key}"`, 'invalid_api_key'],
  ['the key twice', (key) => `Bearer ${key} ${key}`, 'invalid_api_key'],
  ['the key and a parameter', (key) => `Bearer ${key}, realm="animal-store"`, 'invalid_api_key'],
  ['the key with a typing error', (key) => `Bearer ${withTypo(key, -20)}`, 'invalid_api_key'],
  ['an unknown key', (key) => `Bearer ${unknownKey(key)}`, 'invalid_api_key'],
  ['a key of another environment', (key) => `Bearer ${ofOtherEnvironment(key)}`, 'invalid_api_key'],
  ['the header repeated', (key) => [`Bearer ${key}`, `Bearer ${key}`], 'invalid_api_key', 'missing_api_key'],
  ['the header repeated, a wrong key first', (key) => ['Bearer wrong', `Bearer ${key}`], 'invalid_api_key', 'missing_api_key'],
  ['the header repeated, another scheme first', (key) => ['Basic c3VpdGU6c2VjcmV0', `Bearer ${key}`], 'invalid_api_key', 'missing_api_key'],
];

function ofOtherEnvironment(key: string): string {
  const precedes = withoutChecksum(key).replace(/^ast_[a-z0-9]+_/, 'ast_elsewhere_');
  return precedes + checksumOf(precedes);
}

/** Expects the challenge of a 401 or 403 (RFC 6750, section 3). Ignores its description. */
function expectChallenge(response: HttpResponse, expected: Readonly<Record<string, string>>): void {
  const challenge = response.headers['www-authenticate'] ?? '';
  expect(challenge).toMatch(/^Bearer realm="animal-store"(?:, [a-z_]+="[^"]*")*$/);
  const parameters = [...challenge.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  expect(Object.fromEntries(parameters.filter(([name]) => name !== 'error_description'))).toEqual({ realm: 'animal-store', ...expected });
}

/** Expects a 401 with one of the codes and its challenge. */
function expectUnauthenticated(response: HttpResponse, ...codes: readonly string[]): void {
  expectError(response, ...codes);
  const { code } = JSON.parse(response.text) as { code: string };
  expectChallenge(response, code === 'invalid_api_key' ? { error: 'invalid_token' } : {});
}

describe('the Authorization header', () => {
  it.each(['bearer', 'BEARER', 'bEaReR'])('may have the scheme %s', async (scheme) => {
    expectStatus(await api.get('/v1/pets', { authorization: `${scheme} ${api.target.key}` }), 200);
  });

  it.each(REJECTED)('is rejected with 401: %s', async (_what, authorization, ...codes) => {
    expectUnauthenticated(await api.get('/v1/pets', { authorization: authorization(api.target.key) }), ...codes);
  });

  it.each(['api_key', 'access_token', 'authorization'])('is not replaced by the query parameter %s', async (parameter) => {
    expectUnauthenticated(await api.get(`/v1/pets?${parameter}=${api.target.key}`, { authorization: null }), 'missing_api_key');
  });

  it.each(['cookie', 'x-api-key', 'proxy-authorization'])('is not replaced by the header %s', async (field) => {
    const { key } = api.target;
    const headers = { [field]: field === 'cookie' ? `api_key=${key}; authorization=Bearer ${key}` : `Bearer ${key}` };
    expectUnauthenticated(await api.get('/v1/pets', { headers, authorization: null }), 'missing_api_key');
  });
});

describe('401 takes precedence over', () => {
  const big = `{"name":"Rex","categoryId":7,"note":"${'x'.repeat(100_000)}"}`;
  it.each<[string, string, string, RequestOptions]>([
    ['an invalid limit', 'GET', '/v1/pets?limit=0', {}],
    ['invalid percent-encoding in the query', 'GET', '/v1/pets?limit=%zz', {}],
    ['an unknown pet', 'GET', '/v1/pets/-1', {}],
    ['an id that is not an integer', 'GET', '/v1/pets/abc', {}],
    ['an id with invalid percent-encoding', 'GET', '/v1/pets/%zz', {}],
    ['a missing body', 'POST', '/v1/pets', {}],
    ['malformed JSON', 'POST', '/v1/pets', { headers: JSON_BODY, body: '{' }],
    ['a body that is not UTF-8', 'POST', '/v1/pets', { headers: JSON_BODY, body: Uint8Array.of(0xff) }],
    ['a missing content type', 'POST', '/v1/pets', { body: NEW_PET }],
    ['another charset', 'POST', '/v1/pets', { headers: { 'content-type': 'application/json; charset=utf-16' }, body: NEW_PET }],
    ['a content encoding', 'POST', '/v1/pets', { headers: { ...JSON_BODY, 'content-encoding': 'gzip' }, body: gzipSync(NEW_PET) }],
    ['a body above 64 KiB', 'POST', '/v1/pets', { headers: JSON_BODY, body: big }],
    ['a chunked body above 64 KiB', 'POST', '/v1/pets', { headers: JSON_BODY, body: [big.slice(0, 50_000), big.slice(50_000)] }],
  ])('%s', async (_what, method, path, options) => {
    expectUnauthenticated(await api.send(method, path, { ...options, authorization: null }), 'missing_api_key');
    expectUnauthenticated(await api.send(method, path, { ...options, authorization: 'Bearer wrong' }), 'invalid_api_key');
  });
});
