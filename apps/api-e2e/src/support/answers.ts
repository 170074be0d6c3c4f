import { expect } from '@jest/globals';

/** One HTTP answer; field names are in lower case, a repeated field is joined by `, `. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The published error codes and the status of each; contexts have further codes of what was not found. */
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

/** A stack frame, a statement, a path of the machine. */
const INTERNALS = /\n\s+at |\.[jt]s:\d|node_modules|\/dist\/|\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM) /;

/** What every answer of the service carries, whatever wrote it. */
export function expectCommonHeaders({ headers }: Answer): void {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[\x21-\x7e]{1,128}$/),
  });
  expect(headers).not.toHaveProperty('x-powered-by');
}

/** On failure, Jest shows the body as well. */
export function expectStatus({ status, text }: Answer, expected: number): void {
  expect({ status, text }).toEqual({ status: expected, text });
}

export function expectJson(answer: Answer): void {
  expect(answer.headers['content-type']).toBe('application/json');
}

/** The answer is an Error with one of the codes, and links its explanation; returns its message. */
export function expectError(answer: Answer | undefined, ...codes: readonly ErrorCode[]): string {
  if (!answer) throw new Error('no answer');
  expectJson(answer);
  const body = JSON.parse(answer.text) as { code: ErrorCode; message: string; status: number };
  expect(body).toStrictEqual({ code: expect.any(String), message: expect.stringMatching(/\S/), status: answer.status });
  expect({ codes, answer: body }).toEqual({ codes: expect.arrayContaining([body.code]), answer: body });
  expect(answer.status).toBe(statusOf(body.code));
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(linksOf(answer, 'help')).toEqual([expect.stringMatching(new RegExp(`/docs/errors#${body.code}$`))]);
  expect(body.message).not.toMatch(INTERNALS);
  return body.message;
}

/** The targets of the `Link` field with this relation (RFC 8288). */
export function linksOf({ headers }: Answer, relation: string): string[] {
  return [...(headers['link'] ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?([\w-]+)"?/g)].flatMap(([, target = '', rel]) =>
    rel === relation ? [target] : [],
  );
}
