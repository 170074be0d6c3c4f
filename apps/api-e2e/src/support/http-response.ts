import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';

const DOCUMENT = new URL('../../../../docs/openapi.json', import.meta.url);

interface ErrorExample {
  readonly value: { readonly code: string; readonly status: number };
}

/** The parts of the OpenAPI document that describe errors. */
interface OpenApi {
  readonly info: { readonly description: string };
  readonly components: {
    readonly responses: Readonly<
      Record<string, { readonly content: { readonly 'application/json': { readonly examples: Readonly<Record<string, ErrorExample>> } } }>
    >;
  };
}

/** An HTTP response. Header names are in lower case; repeated headers are joined by `, `. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

let documentedStatuses: ReadonlyMap<string, number> | undefined;

/** Returns the status of each error code in docs/openapi.json: those of operations, and those that only its description names. */
function statusOfCodes(): ReadonlyMap<string, number> {
  const { info, components } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenApi;
  const examples = Object.values(components.responses).flatMap(({ content }) => Object.values(content['application/json'].examples));
  const outsideOperations = [...info.description.matchAll(/([0-9]{3}) `([a-z_]+)`/g)];
  return new Map([
    ...examples.map(({ value: { code, status } }) => [code, status] as const),
    ...outsideOperations.map(([, status, code = '']) => [code, Number(status)] as const),
  ]);
}

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
export function expectError(response: HttpResponse | undefined, ...codes: readonly string[]): string {
  if (!response) throw new Error('no response');
  expectJson(response);
  const body = JSON.parse(response.text) as { code: string; message: string; status: number };
  expect(body).toStrictEqual({ code: expect.any(String), message: expect.stringMatching(/\S/), status: response.status });
  expect({ codes, response: body }).toEqual({ codes: expect.arrayContaining([body.code]), response: body });
  const { code } = body;
  documentedStatuses ??= statusOfCodes();
  expect({ code, status: response.status }).toEqual({ code, status: documentedStatuses.get(code) });
  expect(response.headers['cache-control']).toBe('no-store');
  for (const help of linksOf(response, 'help')) expect(help).toMatch(new RegExp(`/guides/errors.html#${body.code}$`));
  expect(body.message).not.toMatch(INTERNALS);
  return body.message;
}

/** Returns the targets of the `Link` header with this relation (RFC 8288). */
export function linksOf({ headers }: HttpResponse, relation: string): string[] {
  return [...(headers['link'] ?? '').matchAll(/<([^>]*)>\s*;\s*rel="?([\w-]+)"?/g)].flatMap(([, target = '', rel]) =>
    rel === relation ? [target] : [],
  );
}
