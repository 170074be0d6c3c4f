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
    [{ sslrootcert: 'system' }, [{ ca: getCACertificates('system') }]],
    [{ sslmode: 'require', sslpassword: 'x', sslnegotiation: 'direct' }, [{ ...unverified, passphrase: 'x' }]],
    [
      { sslmode: 'require', ssl_min_protocol_version: 'TLSv1.2', ssl_max_protocol_version: 'TLSv1.3' },
      [{ ...unverified, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }],
    ],
    [{ sslmode: 'disable', sslcert: file }, [false]],
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
    ...['sslrootcert', 'sslcert', 'sslkey', 'sslpassword', 'ssl_min_protocol_version', 'ssl_max_protocol_version'].map(
      (name): [Record<string, string>, string] => [
        { [name]: file },
        'must have an sslmode such as verify-full with other parameters of TLS',
      ],
    ),
    [{ sslmode: 'require', ssl_min_protocol_version: '1.3' }, 'must have an ssl_min_protocol_version of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3'],
    [{ sslmode: 'require', ssl_max_protocol_version: '1.3' }, 'must have an ssl_max_protocol_version of TLSv1, TLSv1.1, TLSv1.2, TLSv1.3'],
    [{ sslmode: 'require', sslnegotiation: 'indirect' }, 'must have an sslnegotiation of postgres or direct'],
    [{ sslmode: 'prefer', sslnegotiation: 'direct' }, 'must have an sslmode of require, verify-ca, verify-full with sslnegotiation=direct'],
    [{ sslmode: 'always' }, 'must have an sslmode of disable, allow, prefer, require, verify-ca or verify-full'],
    [{ sslmode: 'require', sslrootcert: 'system' }, 'must have sslmode=verify-full with sslrootcert=system'],
    [{ sslmode: 'require', sslcert: '/none' }, "cannot be used: sslcert: ENOENT: no such file or directory, open '/none'"],
    [{ sslmode: 'require', sslkey: '/none' }, "cannot be used: sslkey: ENOENT: no such file or directory, open '/none'"],
    [{ sslmode: 'require', sslrootcert: '/none' }, "cannot be used: sslrootcert: ENOENT: no such file or directory, open '/none'"],
  ])('of %j fail: it %s', (parameters, message) => {
    expect(() => tlsAttempts(parameters)).toThrow(message);
  });
});
