import { expect, it } from '@jest/globals';
import type { HttpResponse } from './http-response.js';
import { OpenApiConformance } from './openapi-conformance.js';

const conformance = new OpenApiConformance();
const COMMON = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff', 'x-request-id': 'a' };
const PET = '{"id":9223372036854775807,"name":"Rex","categoryId":7,"status":"sold"}';
const created = ({ status = 201, text = PET, headers = {} }: Partial<HttpResponse> = {}): HttpResponse => {
  return { status, text, headers: { ...COMMON, location: '/v1/pets/1', ...headers } };
};

it('a documented response conforms', () => expect(conformance.violations('POST', '/v1/pets?x=1', created())).toEqual([]));

it.each([
  ['an undocumented status', created({ status: 202 }), 'status 202 is not documented'],
  ['an undocumented content type', created({ headers: { 'content-type': 'text/html' } }), 'the content type text/html is not documented'],
  ['a body that is not JSON', created({ text: '{' }), 'the body is not JSON: {'],
  ['an id above int64', created({ text: PET.replace('807', '808') }), 'the body/id must pass "int64" keyword validation'],
  ['a member that is not documented', created({ text: PET.replace('}', ',"note":""}') }), 'the body must NOT have additional properties'],
  ['a header of other responses', created({ headers: { etag: '"x"', via: '1.1 proxy' } }), 'the header etag is not documented for 201'],
])('%s is reported', (_what, response, violation) => {
  expect(conformance.violations('POST', '/v1/pets', response)).toEqual([violation]);
});

it('a missing header is reported, and a body of a 304', () => {
  expect(conformance.violations('HEAD', '/v1/pets', { status: 200, text: '', headers: COMMON })).toContain('the header ETag is missing');
  const headers = { ...COMMON, 'cache-control': 'private, no-cache', etag: '"x"' };
  expect(conformance.violations('GET', '/v1/pets', { status: 304, text: '[]', headers })).toContain('there is a body: []');
});
