import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { tlsAttempts } from './tls.js';

// Test names contain the path. Mutation tests select by name, so it must not vary.
const file = import.meta.filename;
const PEM = readFileSync(file, 'utf8');

const unverified = { rejectUnauthorized: false };
const anyName = { checkServerIdentity: expect.any(Function) as unknown };

describe('tlsAttempts', () => {
  it.each([
    [{}, [false]],
    [{ sslmode: 'disable' }, [false]],
    [{ sslmode: 'allow' }, [false, unverified]],
    [{ sslmode: 'prefer' }, [unverified, false]],
    [{ sslmode: 'require' }, [unverified]],
    [{ sslmode: 'require', sslrootcert: file }, [{ ca: PEM, ...anyName }]],
    [{ sslmode: 'verify-ca', sslrootcert: file }, [{ ca: PEM, ...anyName }]],
    [{ sslmode: 'verify-full' }, [{}]],
    [{ sslmode: 'verify-full', sslrootcert: file }, [{ ca: PEM }]],
    [{ sslmode: 'verify-full', sslrootcert: 'system' }, [{ ca: getCACertificates('system') }]],
    [{ sslmode: 'require', sslcert: file }, [{ ...unverified, cert: PEM }]],
    [{ sslmode: 'prefer', sslkey: file, sslrootcert: file }, [{ ...unverified, ca: PEM, key: PEM }, false]],
  ])('of %j', (parameters, attempts) => {
    expect(tlsAttempts(parameters)).toEqual(attempts);
  });

  it('of verify-ca accept any name of the server', () => {
    const [attempt] = tlsAttempts({ sslmode: 'verify-ca', sslrootcert: file });
    expect((attempt as { checkServerIdentity: () => unknown }).checkServerIdentity()).toBeUndefined();
  });

  it.each([
    [{ sslmode: 'verify-ca' }, 'must have an sslrootcert with sslmode=verify-ca'],
    [{ sslmode: 'always' }, 'must have an sslmode of disable, allow, prefer, require, verify-ca or verify-full'],
    [{ sslmode: 'require', sslrootcert: 'system' }, 'must have sslmode=verify-full with sslrootcert=system'],
    [{ sslmode: 'require', sslcert: '/none' }, "cannot be used: sslcert: ENOENT: no such file or directory, open '/none'"],
    [{ sslmode: 'require', sslkey: '/none' }, "cannot be used: sslkey: ENOENT: no such file or directory, open '/none'"],
    [{ sslmode: 'require', sslrootcert: '/none' }, "cannot be used: sslrootcert: ENOENT: no such file or directory, open '/none'"],
  ])('of %j fail: it %s', (parameters, message) => {
    expect(() => tlsAttempts(parameters)).toThrow(message);
  });
});
