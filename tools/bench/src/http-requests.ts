import { type PetRequest, SERIAL } from './workloads.js';

export type Paging = 'cursor' | 'after';

const SERIAL_DIGITS = 8;

/** The parts of a request that fetch() and the load generators take. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function httpRequest(request: PetRequest, paging: Paging, keys: readonly string[]): HttpRequest {
  const headers = { Authorization: `Bearer ${keys[request.key]}` };
  switch (request.operation) {
    case 'list': {
      const { limit, status, [paging]: position } = request;
      const query = [
        `limit=${limit}`,
        ...(status ? [`status=${status}`] : []),
        ...(position === undefined ? [] : [`${paging}=${position}`]),
      ];
      return { method: 'GET', path: `/v1/pets?${query.join('&')}`, headers };
    }
    case 'get':
      return { method: 'GET', path: `/v1/pets/${request.id}`, headers };
    case 'create': {
      const { name, categoryId, status } = request;
      // JSON.stringify would escape the placeholder of the serial number.
      const body = JSON.stringify({ name: '', categoryId, status }).replace('""', () => `"${name}"`);
      return { method: 'POST', path: '/v1/pets', headers: { ...headers, 'Content-Type': 'application/json' }, body };
    }
  }
}

/** Returns the text of the HTTP request. Its Content-Length is for the body after the serial number has replaced the placeholder. */
export function rawRequest({ method, path, headers, body }: HttpRequest, host: string): string {
  const length = body === undefined ? undefined : Buffer.byteLength(body.replace(SERIAL, '0'.repeat(SERIAL_DIGITS)));
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(length === undefined ? [] : [`Content-Length: ${length}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

export function withSerial(body: string, serial: number): string {
  return body.replace(SERIAL, String(serial).padStart(SERIAL_DIGITS, '0'));
}
