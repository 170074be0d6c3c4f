import { expect } from '@jest/globals';

/** An HTTP response. Header names are in lower case; repeated headers are joined by `, `. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The documented error codes and their statuses. Contexts add further `…_not_found` codes. */
export const ERROR_STATUS = {
  invalid_request: 400,
  malformed_json: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  insufficient_scope: 403,
  pet_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  operation_removed: 410,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  expectation_failed: 417,
  idempotency_key_reused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS | `${string}_not_found`;

const statusOf = (code: ErrorCode): number => (code in ERROR_STATUS ? ERROR_STATUS[code as keyof typeof ERROR_STATUS] : 404);

/** Matches stack frames, SQL statements and paths of source files. */
const INTERNALS = /\n\s+at |\.[jt]s:\d|node_modules|\/dist\/|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) /;

/** Expects the headers that every response of the service has. */
export function expectCommonHeaders({ headers }: HttpResponse): void {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\x21-\x7e]{1,128}$/),
  });
  expect(headers).not.toHaveProperty('x-powered-by');
}

/** Expects a status. On failure, Jest also shows the body. */
export function expectStatus({ status, text }: HttpResponse, expected: number): void {
  expect({ status, text }).toEqual({ status: expected, text });
}

export function expectJson(response: HttpResponse): void {
  expect(response.headers['content-type']).toBe('application/json');
}

/** Expects an Error with one of the codes and a link to its explanation. Returns its message. */
export function expectError(response: HttpResponse | undefined, ...codes: readonly ErrorCode[]): string {
  if (!response) throw new Error('no response');
  expectJson(response);
  const body = JSON.parse(response.text) as { code: ErrorCode; message: string; status: number };
  expect(body).toStrictEqual({ code: expect.any(String), message: expect.stringMatching(/\S/), status: response.status });
  expect({ codes, response: body }).toEqual({ codes: expect.arrayContaining([body.code]), response: body });
  expect(response.status).toBe(statusOf(body.code));
  expect(response.headers['cache-control']).toBe('no-store');
  expect(linksOf(response, 'help')).toEqual([expect.stringMatching(new RegExp(`/docs/errors#${body.code}$`))]);
  expect(body.message).not.toMatch(INTERNALS);
  return body.message;
}

/** Returns the targets of the `Link` header with this relation (RFC 8288). */
export function linksOf({ headers }: HttpResponse, relation: string): string[] {
  return [...(headers['link'] ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?([\w-]+)"?/g)].flatMap(([, target = '', rel]) =>
    rel === relation ? [target] : [],
  );
}
