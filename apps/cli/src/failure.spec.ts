import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { CliError, describeFailure, EXIT_USAGE, inErrorStyle } from './failure.js';

const codeError = (code: string, message = '') => Object.assign(new Error(message), { code });

describe('describeFailure', () => {
  it.each([
    ['no', 1, new CliError('no')],
    ['not so', 2, new CliError(' not\n  so\n', EXIT_USAGE)],
    ['scopes must…', 2, new DomainError({ code: 'invalid_request', kind: 'invalid', message: 'scopes must…' })],
    ['None.', 1, new DomainError({ code: 'api_key_not_found', kind: 'not_found', message: 'None.' })],
    ['the tables are missing: run "migrate up" first', 1, codeError('42P01', 'relation "access.clients" does not exist')],
    ['the tables are missing: run "migrate up" first', 1, codeError('3F000', 'schema "access" does not exist')],
    ['the database cannot be used: ECONNREFUSED', 1, codeError('ECONNREFUSED')],
    ['the database cannot be used: canceling', 1, Object.assign(new Error('canceling'), { driverError: codeError('57014', 'canceling') })],
    ['the database is read-only: cannot execute INSERT', 1, codeError('25006', 'cannot execute INSERT')],
    [
      'the database cannot be used: password authentication failed for user "x"',
      1,
      codeError('28P01', 'password authentication failed\nfor user "x"'),
    ],
    ['thrown text', 1, 'thrown text'],
  ])('returns "%s" with exit code %d', (line, exitCode, error) => expect(describeFailure(error)).toEqual({ line, exitCode }));

  it.each([
    ['No client has the name Acme.', 'no client has the name Acme'],
    ['PostgreSQL did not start: no. See log.', 'PostgreSQL did not start: no. See log'],
    ['OPERATOR must be text', 'OPERATOR must be text'],
    ["option '--seed <n>' argument 'x' is invalid. It must be 1.", "option '--seed <n>' argument 'x' is invalid: it must be 1"],
  ])('%s is printed as "%s"', (message, line) => expect(inErrorStyle(message)).toBe(line));

  it('escapes control characters', () => {
    expect(describeFailure(new Error('\u001b[2J\u009b2J')).line).toBe(String.raw`\x1b[2J\x9b2J`);
  });
});
