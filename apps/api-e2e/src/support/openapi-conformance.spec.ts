import { describe, expect, it } from '@jest/globals';
import type { HttpResponse } from './http-response.js';
import { OpenApiConformance } from './openapi-conformance.js';

const conformance = new OpenApiConformance();
const COMMON = { 'content-type': 'application/json', 'x-request-id': '1', 'x-content-type-options': 'nosniff' };
const PET = '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}';
const NOT_FOUND = '{"code":"route_not_found","message":"No resource has this path.","status":404}';

const created = ({ headers = {}, ...changes }: Partial<HttpResponse> = {}): HttpResponse => ({
  status: 201,
  text: PET,
  headers: { ...COMMON, location: '/v1/pets/1', ...headers },
  ...changes,
});

describe('the conformance to the OpenAPI document', () => {
  it('accepts a documented response, with int64 values at the limits', () => {
    expect(conformance.violations('POST', '/v1/pets', created())).toEqual([]);
    expect(
      conformance.violations('POST', '/v1/pets?x=1', created({ headers: { 'content-type': 'Application/JSON; charset=utf-8' } })),
    ).toEqual([]);
  });

  it.each([
    ['an undocumented status', created({ status: 202 }), 'status 202 is not documented'],
    ['an undocumented content type', created({ headers: { 'content-type': 'text/html' } }), 'the content type text/html is not documented'],
    ['a body that is not JSON', created({ text: '{' }), 'the body is not JSON: {'],
    ['an id above int64', created({ text: PET.replace('807', '808') }), 'the body/id must pass "int64" keyword validation'],
  ])('reports %s', (_what, response, violation) => {
    expect(conformance.violations('POST', '/v1/pets', response)).toEqual([violation]);
  });

  it('reports a missing header, documented inline or by reference', () => {
    expect(conformance.violations('POST', '/v1/pets', { status: 201, text: PET, headers: { 'content-type': 'application/json' } })).toEqual(
      ['the header X-Request-Id is missing', 'the header X-Content-Type-Options is missing', 'the header Location is missing'],
    );
  });

  it('reports a header that is documented only for other responses', () => {
    expect(conformance.violations('POST', '/v1/pets', created({ headers: { etag: '"x"', via: '1.1 proxy' } }))).toEqual([
      'the header etag is not documented for 201',
    ]);
  });

  it('finds an operation by template, by path and by its path below a server URL', () => {
    const undocumented: HttpResponse = { status: 299, text: '', headers: {} };
    for (const path of ['/v1/pets/{petId}', '/v1/pets/7', '/v1/pets/%20?x=y']) {
      expect(conformance.violations('GET', path, undocumented)).toEqual(['status 299 is not documented']);
    }
    const document = { servers: [{ url: 'https://store.test/animals/v1' }], paths: { '/pets': { get: { responses: {} } } } };
    const below = new OpenApiConformance(JSON.stringify(document));
    for (const path of ['/v1/pets', '/animals/v1/pets']) {
      expect(below.violations('GET', path, undocumented)).toEqual(['status 299 is not documented']);
    }
  });

  it('checks only the schema of errors outside the operations', () => {
    for (const [method, path] of [
      ['GET', '/pets'],
      ['GET', '/v1/pets/'],
      ['GET', '/v1/v1/pets'],
      ['DELETE', '/v1/pets'],
      ['GET', '/health/live'],
    ] as const) {
      expect(conformance.violations(method, path, { status: 404, text: NOT_FOUND, headers: COMMON })).toEqual([]);
      expect(conformance.violations(method, path, { status: 404, text: '{"error":"no"}', headers: COMMON })).not.toEqual([]);
      expect(conformance.violations(method, path, { status: 200, text: 'anything', headers: {} })).toEqual([]);
    }
  });

  it('checks HEAD like GET but without the body, and requires an empty body for 304', () => {
    const headers = { ...COMMON, 'cache-control': 'private, no-cache', etag: '"x"' };
    expect(conformance.violations('HEAD', '/v1/pets', { status: 200, text: '', headers })).toEqual([]);
    expect(conformance.violations('HEAD', '/v1/pets', { status: 200, text: '', headers: COMMON })).toContain('the header ETag is missing');
    expect(conformance.violations('GET', '/v1/pets', { status: 304, text: '', headers })).toEqual([]);
    expect(conformance.violations('GET', '/v1/pets', { status: 304, text: '[]', headers })).toEqual(['there is a body: []']);
  });
});
