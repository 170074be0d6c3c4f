import { expect } from '@jest/globals';
import { type HttpResponse, expectError } from './http-response.js';

/** Expects the challenge of a 401 or 403 (RFC 6750, section 3). Ignores its description. */
function expectChallenge(response: HttpResponse, expected: Readonly<Record<string, string>>): void {
  const challenge = response.headers['www-authenticate'] ?? '';
  expect(challenge).toMatch(/^Bearer realm="animal-store"(?:, [a-z_]+="[^"]*")*$/);
  const parameters = [...challenge.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  expect(Object.fromEntries(parameters.filter(([name]) => name !== 'error_description'))).toEqual({ realm: 'animal-store', ...expected });
}

/** Expects a 401 with one of the codes and its challenge. */
export function expectUnauthenticated(response: HttpResponse, ...codes: readonly string[]): void {
  expectError(response, ...codes);
  const { code } = JSON.parse(response.text) as { code: string };
  expectChallenge(response, code === 'invalid_api_key' ? { error: 'invalid_token' } : {});
}

/** Expects a 403 that names the missing scope. */
export function expectForbidden(response: HttpResponse, scope: string): void {
  expectError(response, 'insufficient_scope');
  expectChallenge(response, { error: 'insufficient_scope', scope });
}
