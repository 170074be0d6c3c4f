import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import {
  isDatabaseUnavailable,
  isLoginRejected,
  isNamedStatementLost,
  isRepeatable,
  isRowError,
  isSessionUsable,
  mayRecover,
} from './error-meaning.js';
import { ERROR_TABLE, LIBRARY_ERRORS } from './error-table.js';

const withCode = (code: string) => Object.assign(new Error('sin texto'), { code });
const matching = (codes: readonly string[], predicate: (error: unknown) => boolean) =>
  codes
    .filter((code) => predicate(withCode(code)))
    .sort()
    .join(' ');

// https://www.postgresql.org/docs/current/errcodes-appendix.html, without warnings: one code of each class, and those that have their own row.
const SQLSTATES = `
  03000 08000 08001 08003 08004 08006 08007 08P01 09000 0A000 0B000 0F000 0L000 0P000 0Z000 10608 20000 21000 22000 22001 22003 22021 22P02
  22P05 23000 23502 23503 23505 23514 23P01 24000 25000 25001 25006 25P01 25P02 25P03 25P04 26000 27000 28000 28P01 2B000 2D000 2F000 34000
  38000 39000 3B000 3D000 3F000 40000 40001 40002 40003 40P01 42000 42501 42601 42703 42704 42P01 42P05 44000 53000 53100 53200 53300 53400
  54000 54001 55000 55006 55P02 55P03 55P04 57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 58P02 72000 F0000 HV000 P0001 P0002
  XX000 XX001 XX002`
  .trim()
  .split(/\s+/);

const SYSTEM_ERRORS = [...new Set([...Object.keys(constants.errno), ...[...getSystemErrorMap().values()].map(([name]) => name)])];

describe('a SQLSTATE', () => {
  it('of an unavailable database', () => {
    expect(matching(SQLSTATES, isDatabaseUnavailable)).toBe(
      '08000 08001 08003 08004 08006 08007 08P01 25006 25P03 25P04 26000 28000 28P01 3D000 40000 40001 40002 40003 40P01 42P05 53000 53100 53200 53300 53400 55P03 57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 58P02 72000',
    );
  });

  it('after which connecting is useless', () => {
    expect(matching(SQLSTATES, (error) => isDatabaseUnavailable(error) && !mayRecover(error))).toBe('08001 57014');
  });

  it('after which a read is repeated', () => {
    expect(matching(SQLSTATES, isRepeatable)).toBe('08006 25P03 40000 40001 40002 40P01 57P01 57P02 57P05 72000');
  });

  it('after which the session can be used again', () => {
    expect(matching(SQLSTATES, isSessionUsable)).toBe(
      '21000 22000 22001 22003 22021 22P02 22P05 23000 23502 23503 23505 23514 23P01 40000 40001 40002 40P01 42000 42501 42601 42703 42704 42P01 44000 54000 54001 55P03 57014 72000 P0001 P0002',
    );
  });

  it('that a row may have caused', () => {
    expect(matching(SQLSTATES, isRowError)).toBe(
      '22000 22001 22003 22021 22P02 22P05 23000 23502 23503 23505 23514 23P01 44000 54000 54001 P0001 P0002',
    );
  });

  it('of a rejected login or a lost statement', () => {
    expect(matching(SQLSTATES, isLoginRejected)).toBe('28000 28P01 3D000');
    expect(matching(SQLSTATES, isNamedStatementLost)).toBe('26000 42P05');
  });
});

describe('a system error', () => {
  it('of an unavailable database', () => {
    expect(matching(SYSTEM_ERRORS, isDatabaseUnavailable)).toBe(
      'EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EAI_ADDRFAMILY EAI_AGAIN EAI_CANCELED EAI_FAIL EAI_MEMORY EAI_NODATA EAI_NONAME ECONNABORTED ECONNREFUSED ECONNRESET EHOSTDOWN EHOSTUNREACH EMFILE ENETDOWN ENETRESET ENETUNREACH ENFILE ENOBUFS ENOENT ENOMEM ENONET ENOTCONN ENOTDIR ENOTSOCK EPERM EPIPE EPROTONOSUPPORT EPROTOTYPE ESHUTDOWN ETIMEDOUT',
    );
    expect(['ENOTFOUND', 'ESERVFAIL', 'ERR_STREAM_DESTROYED'].map((code) => mayRecover(withCode(code)))).toEqual([true, true, true]);
  });

  it('may recover, and a read is repeated only after a connection was lost', () => {
    expect(matching(SYSTEM_ERRORS, (error) => isDatabaseUnavailable(error) && !mayRecover(error))).toBe('');
    expect(matching(SYSTEM_ERRORS, isRepeatable)).toBe('ECONNABORTED ECONNRESET ENETRESET ENOTCONN EPIPE ESHUTDOWN');
    expect(matching(SYSTEM_ERRORS, (error) => isSessionUsable(error) || isRowError(error) || isLoginRejected(error))).toBe('');
  });
});

it('each row of the table has a source, and each code one row', () => {
  for (const [, source] of ERROR_TABLE) expect(source).toMatch(/\w{2,}/);
  const codes = ERROR_TABLE.flatMap(([all]) => all.split(' '));
  expect(new Set(codes).size).toBe(codes.length);
});

it.each(Object.entries(LIBRARY_ERRORS))('%j is a text of the installed library', (text, [file]) => {
  // A text of TypeORM is split over two lines.
  const source = readFileSync(createRequire(import.meta.url).resolve(file), 'utf8').replace(/` \+\s+`/g, '');
  expect(source).toContain(text);
  expect(isDatabaseUnavailable(new Error(text))).toBe(true);
  expect(isDatabaseUnavailable(new Error(`${text}?`))).toBe(false);
});
