import { describe, expect, it } from '@jest/globals';
import type { Answer } from './answers.js';
import { OpenApiContract } from './openapi-contract.js';

const contract = new OpenApiContract();
const COMMON = { 'content-type': 'application/json', 'x-request-id': '1', 'x-content-type-options': 'nosniff' };
const PET = '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}';
const NOT_FOUND = '{"code":"route_not_found","message":"No resource has this path.","status":404}';

const created = ({ headers = {}, ...changes }: Partial<Answer> = {}): Answer => ({
  status: 201,
  text: PET,
  headers: { ...COMMON, location: '/v1/pets/1', ...headers },
  ...changes,
});

describe('the OpenAPI contract', () => {
  it('is kept by an answer as documented, int64 to its limits', () => {
    expect(contract.violations('POST', '/v1/pets', created())).toEqual([]);
    expect(
      contract.violations('POST', '/v1/pets?x=1', created({ headers: { 'content-type': 'Application/JSON; charset=utf-8' } })),
    ).toEqual([]);
  });

  it.each([
    ['a status', created({ status: 202 }), 'status 202 is not documented'],
    ['a content type', created({ headers: { 'content-type': 'text/html' } }), 'the content type text/html is not documented'],
    ['a body that is no JSON', created({ text: '{' }), 'the body is not JSON: {'],
    ['a body without a member', created({ text: '{"id":1,"name":"Rex","categoryId":7}' }), "the body must have required property 'status'"],
    [
      'an unknown status of a pet',
      created({ text: PET.replace('sold', 'lost') }),
      'the body/status must be equal to one of the allowed values',
    ],
    ['an id beyond int64', created({ text: PET.replace('807', '808') }), 'the body/id must pass "int64" keyword validation'],
    [
      'an id below int64',
      created({ text: PET.replace('-9223372036854775808', '-9223372036854775809') }),
      'the body/categoryId must pass "int64" keyword validation',
    ],
    [
      'an id that is no integer',
      created({ text: PET.replace('9223372036854775807', '7.5') }),
      'the body/id must pass "int64" keyword validation',
    ],
    [
      'an id that is text',
      created({ text: PET.replace('9223372036854775807', '"7"') }),
      'the body/id must pass "int64" keyword validation',
    ],
  ])('is broken by %s', (_what, answer, violation) => {
    expect(contract.violations('POST', '/v1/pets', answer)).toEqual([violation]);
  });

  it('is broken by a missing header, documented in place or by reference', () => {
    expect(contract.violations('POST', '/v1/pets', { status: 201, text: PET, headers: { 'content-type': 'application/json' } })).toEqual([
      'the header X-Request-Id is missing',
      'the header X-Content-Type-Options is missing',
      'the header Location is missing',
    ]);
  });

  it('is broken by a shared response without one of its headers', () => {
    const text = '{"code":"missing_api_key","message":"Send an API key.","status":401}';
    const headers = {
      ...COMMON,
      'cache-control': 'no-store',
      'www-authenticate': 'Bearer',
      link: '</docs/errors#missing_api_key>; rel="help"',
    };
    expect(contract.violations('POST', '/v1/pets', { status: 401, text, headers })).toEqual([]);
    const { link: _link, ...others } = headers;
    expect(contract.violations('POST', '/v1/pets', { status: 401, text, headers: others })).toEqual(['the header Link is missing']);
    expect(contract.violations('POST', '/v1/pets', { status: 401, text: '{}', headers })).not.toEqual([]);
  });

  it('is broken by a header that the document names for other answers only', () => {
    expect(contract.violations('POST', '/v1/pets', created({ headers: { etag: '"x"', via: '1.1 proxy' } }))).toEqual([
      'the header etag is not documented for 201',
    ]);
  });

  it('knows an operation by template, by path and by its path below the base of a server', () => {
    const strange: Answer = { status: 299, text: '', headers: {} };
    for (const path of ['/v1/pets/{petId}', '/v1/pets/7', '/v1/pets/%20?x=y']) {
      expect(contract.violations('GET', path, strange)).toEqual(['status 299 is not documented']);
    }
    const document = { servers: [{ url: 'https://store.test/animals/v1' }], paths: { '/pets': { get: { responses: {} } } } };
    const below = new OpenApiContract(JSON.stringify(document));
    for (const path of ['/v1/pets', '/animals/v1/pets']) {
      expect(below.violations('GET', path, strange)).toEqual(['status 299 is not documented']);
    }
  });

  it('asks nothing but the shape of errors outside the operations', () => {
    for (const [method, path] of [
      ['GET', '/pets'],
      ['GET', '/v1/pets/'],
      ['GET', '/v1/v1/pets'],
      ['DELETE', '/v1/pets'],
      ['GET', '/health/live'],
    ] as const) {
      expect(contract.violations(method, path, { status: 404, text: NOT_FOUND, headers: COMMON })).toEqual([]);
      expect(contract.violations(method, path, { status: 404, text: '{"error":"no"}', headers: COMMON })).not.toEqual([]);
      expect(contract.violations(method, path, { status: 200, text: 'anything', headers: {} })).toEqual([]);
    }
  });

  it('holds for HEAD what it holds for GET but the body, and for 304 that there is none', () => {
    const headers = { ...COMMON, 'cache-control': 'private, no-cache', etag: '"x"' };
    expect(contract.violations('HEAD', '/v1/pets', { status: 200, text: '', headers })).toEqual([]);
    expect(contract.violations('HEAD', '/v1/pets', { status: 200, text: '', headers: COMMON })).toContain('the header ETag is missing');
    expect(contract.violations('GET', '/v1/pets', { status: 304, text: '', headers })).toEqual([]);
    expect(contract.violations('GET', '/v1/pets', { status: 304, text: '[]', headers })).toEqual(['there is a body: []']);
  });
});
