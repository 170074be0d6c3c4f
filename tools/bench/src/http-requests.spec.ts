import { expect, it } from '@jest/globals';
import { httpRequest, rawRequest, withSerial } from './http-requests.js';
import { SERIAL } from './workloads.js';

const list = { operation: 'list', key: 1, limit: 10, status: 'sold', after: 7, cursor: 'opaque' } as const;
const create = { operation: 'create', key: 0, name: `Pet ${SERIAL}`, categoryId: 3, status: 'available' } as const;

it('requests a page with the parameters of each target', () => {
  const headers = { Authorization: 'Bearer b' };
  expect(httpRequest(list, 'cursor', ['a', 'b'])).toEqual({ method: 'GET', path: '/v1/pets?limit=10&status=sold&cursor=opaque', headers });
  expect(httpRequest(list, 'after', ['a', 'b'])).toEqual({ method: 'GET', path: '/v1/pets?limit=10&status=sold&after=7', headers });
  expect(httpRequest({ operation: 'list', key: 1, limit: 5 }, 'after', ['a', 'b']).path).toBe('/v1/pets?limit=5');
});

it('sets Content-Length to the length of the body with its serial number', () => {
  const request = httpRequest(create, 'after', ['a']);
  const body = withSerial(request.body ?? '', 42);
  expect(JSON.parse(body)).toEqual({ name: 'Pet 00000042', categoryId: 3, status: 'available' });
  const raw = rawRequest(request, 'localhost:1');
  expect(raw).toMatch(/^POST \/v1\/pets HTTP\/1\.1\r\nHost: localhost:1\r\n/);
  expect(raw).toContain(`\r\nContent-Length: ${body.length}\r\n\r\n{`);
});
