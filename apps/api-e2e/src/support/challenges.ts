import { expect } from '@jest/globals';
import { type Answer, type ErrorCode, expectError } from './answers.js';

/** Expects the challenge of a 401 or 403 (RFC 6750, section 3). Ignores its description. */
export function expectChallenge(answer: Answer, expected: Readonly<Record<string, string>>): void {
  const challenge = answer.headers['www-authenticate'] ?? '';
  expect(challenge).toMatch(/^Bearer realm="animal-store"(?:, [a-z_]+="[^"]*")*$/);
  const parameters = [...challenge.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  expect(Object.fromEntries(parameters.filter(([name]) => name !== 'error_description'))).toEqual({ realm: 'animal-store', ...expected });
}

/** Expects a 401 with one of the codes and its challenge. */
export function expectUnauthenticated(answer: Answer, ...codes: readonly ErrorCode[]): void {
  expectError(answer, ...codes);
  const { code } = JSON.parse(answer.text) as { code: ErrorCode };
  expectChallenge(answer, code === 'invalid_api_key' ? { error: 'invalid_token' } : {});
}

/** Expects a 403 that names the missing scope. */
export function expectForbidden(answer: Answer, scope: string): void {
  expectError(answer, 'insufficient_scope');
  expectChallenge(answer, { error: 'insufficient_scope', scope });
}
