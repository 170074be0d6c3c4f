import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatServer, parseDatabaseUrl, readSecret, splitUrls } from './database-url.js';

let certificates: Certificates;
const [empty, secret] = [join(tmpdir(), randomUUID()), join(tmpdir(), randomUUID())] as const;

beforeAll(async () => {
  certificates = await createCertificates();
  writeFileSync(empty, '\n');
});
afterAll(async () => {
  rmSync(empty);
  rmSync(secret, { force: true });
  await certificates.remove();
});

const parse = (url: string, env: NodeJS.ProcessEnv = {}) => parseDatabaseUrl(url, env);
const withFile = (parameter: string, file: string) => `postgres://h/x?sslmode=verify-full&${parameter}=${encodeURIComponent(file)}`;

describe('parseDatabaseUrl', () => {
  it('returns every part of a URL, decoded', () => {
    expect(
      parse(
        'postgresql://st%40re:se:cr%2Fet+%25@db1.example:6432/cat%20%2Falogue?application_name=a%3Db+c&options=-c%20x=y&connect_timeout=3&fallback_application_name=f',
      ),
    ).toMatchObject({
      host: 'db1.example',
      port: 6432,
      user: 'st@re',
      password: 'se:cr/et+%',
      database: 'cat /alogue',
      ssl: false,
      application_name: 'a=b+c',
      fallback_application_name: 'f',
      options: '-c x=y',
      connectTimeoutMs: 3_000,
    });
  });

  // Expected values are those of PQconninfoParse of libpq 15, with its defaults for the port and this library's default for the host.
  it.each([
    ['postgres://', 'localhost:5432', {}],
    ['postgres:///?', 'localhost:5432', {}],
    ['postgres://[::1]:6432/x', '[::1]:6432', { database: 'x' }],
    ['postgres://u@%2Fvar%2Frun:5433/x', '/var/run:5433', { user: 'u', database: 'x' }],
    ['postgres:///x?host=/path', '/path:5432', { database: 'x' }],
    ['postgres:///x?user=u&host=%2Ftmp%2Fa&port=1', '/tmp/a:1', { user: 'u', database: 'x' }],
    ['postgres://h/x?user=u&password=p%40w+', 'h:5432', { user: 'u', password: 'p@w+' }],
    ['postgres://a:1@h:5/x?user=b&password=c&host=k&port=7', 'k:7', { user: 'b', password: 'c' }],
    ['postgres://h/x?port=1&port=2&host=a&host=b', 'b:2', {}],
    ['postgres://store@/', 'localhost:5432', { user: 'store', password: '', database: '' }],
    ['postgres:///?connect_timeout=0', 'localhost:5432', { connectTimeoutMs: Infinity }],
  ])('%s names the server %s and %j', (url, server, others) => {
    expect(formatServer(url)).toBe(server);
    expect(parse(url)).toMatchObject(others);
  });

  it('uses the defaults of libpq in the environment', () => {
    const env = { PGHOST: 'db.example', PGPORT: '6543', PGSSLMODE: 'require', PGCONNECT_TIMEOUT: '2' };
    expect(parse('postgres:///x', env)).toMatchObject({ host: 'db.example', port: 6543, connectTimeoutMs: 2_000 });
    expect(parse('postgres:///x', env)).toMatchObject({ ssl: { rejectUnauthorized: false } });
    expect(parse('postgres://a:1/x?sslmode=disable', env)).toMatchObject({ host: 'a', port: 1, ssl: false });
    expect(() => parse('postgres://h/x', { PGSSLMODE: '' })).toThrow('must have an sslmode of');
  });

  it.each([
    ...['PGREQUIREAUTH', 'PGCHANNELBINDING', 'PGSSLCRL', 'PGTARGETSESSIONATTRS', 'PGHOSTADDR', 'PGSERVICE', 'PGSSLSNI', 'PGSSLNEGOTIATION'],
    ...['PGLOADBALANCEHOSTS', 'PGMINPROTOCOLVERSION', 'PGREQUIREPEER', 'PGGSSENCMODE', 'PGREQUIRESSL', 'PGSSLCERTMODE', 'PGSSLCRLDIR'],
    ...['PGSSLMINPROTOCOLVERSION', 'PGSSLMAXPROTOCOLVERSION'],
  ])('rejects the environment variable %s, which `pg` would ignore', (variable) => {
    expect(() => parse('postgres://h/x', { [variable]: 'x' })).toThrow(
      `cannot be used with the environment variable ${variable}, which is not supported`,
    );
  });

  it.each(['sslrootcert', 'sslcert', 'sslkey'])('rejects a file of %s that is empty or cannot be read', (parameter) => {
    expect(() => parse(withFile(parameter, ''))).toThrow('must not have an empty sslrootcert, sslcert or sslkey');
    expect(() => parse('postgres://h/x?sslmode=verify-full', { [`PG${parameter.toUpperCase()}`]: '' })).toThrow('must not have an empty');
    expect(() => parse(withFile(parameter, empty))).toThrow(`cannot be read: ${empty} is empty`);
    expect(() => parse(withFile(parameter, '/missing.pem'))).toThrow('cannot be read: ENOENT');
    expect(() => parse(withFile(parameter, '/'))).toThrow('cannot be read: / must be a file of at most 1048576 bytes');
  });

  it.each(['sslrootcert', 'sslcert'])('rejects a file of %s without a certificate', (parameter) => {
    expect(() => parse(withFile(parameter, certificates.key))).toThrow(`cannot be read: ${certificates.key} contains no certificate`);
  });

  it.each([
    ...[
      'target_session_attrs',
      'channel_binding',
      'require_auth',
      'hostaddr',
      'service',
      'passfile',
      'sslpassword',
      'sslcrl',
      'gssencmode',
    ],
    ...['ssl_min_protocol_version', 'client_encoding', 'dbname', 'ssl', 'uselibpqcompat', 'sslmod', 'SSLMODE', 'constructor', '__proto__'],
  ])('rejects the parameter %s', (name) => {
    const url = `postgres://u:hunter2@h/x?${name}=1`;
    expect(() => parse(url)).toThrow(new RegExp(`^must not have the parameter ${name}: only host, .* are supported$`));
  });

  it.each([
    ['mysql://localhost', 'must be a postgres:// URL'],
    [' postgres://localhost', 'must be percent-encoded; write a space as %20 and # as %23'],
    ['postgres://localhost/x#fragment', 'must be percent-encoded; write a space as %20 and # as %23'],
    ['postgres://a /x', 'must be percent-encoded; write a space as %20 and # as %23'],
    ['postgres://a:b:c', 'must be a postgres:// URL'],
    ['postgres://[::1', 'must be a postgres:// URL'],
    ['postgres://a:65536', 'must be a postgres:// URL'],
    ['postgres://a:0', 'must have a port from 1 to 65535'],
    ['postgres://a?port=http', 'must have a port from 1 to 65535'],
    ['postgres://a?port=65536', 'must have a port from 1 to 65535'],
    ['postgres://a,b/x', 'must have one host, which leads to the primary, and no list of hosts'],
    ['postgres://a%2Cb/x', 'must have one host, which leads to the primary, and no list of hosts'],
    ['postgres:///x?host=a,b', 'must have one host, which leads to the primary, and no list of hosts'],
    ['postgres://a/%zz', 'must be percent-encoded; write % as %25'],
    ['postgres://u:50%@a/', 'must be percent-encoded; write % as %25'],
    ['postgres://a?connect_timeout=1.5', 'must have a connect_timeout in whole seconds'],
    ['postgres://a?connect_timeout=', 'must have a connect_timeout in whole seconds'],
    ['postgres://a?sslmode=', 'must have an sslmode of disable, require, verify-ca, verify-full'],
    ['postgres://a?sslmode=prefer', 'must have an sslmode of disable, require, verify-ca, verify-full'],
    ['postgres://a?sslmode=verify_full', 'must have an sslmode of disable, require, verify-ca, verify-full'],
    ['postgres://a?sslmode=verify-ca', 'must have an sslrootcert with sslmode=verify-ca'],
    ['postgres://a?sslrootcert=/ca', 'must have an sslmode such as verify-full with other parameters of TLS'],
    ['postgres://a?sslcert=/c', 'must have an sslmode such as verify-full with other parameters of TLS'],
    ['postgres://a?sslkey=/k', 'must have an sslmode such as verify-full with other parameters of TLS'],
    ['postgres://a?pa%20ss=w@host', /^must not have a parameter: only/],
    ['postgres://a/x\r\n', 'must not contain line breaks or other control characters'],
    ['postgres://a/x?application_name=%1B', 'must not contain line breaks or other control characters'],
    ['postgres://u:%00@a/x', 'must not contain line breaks or other control characters'],
  ])('rejects %j: it %s', (url, message) => {
    expect(() => parse(url)).toThrow(typeof message === 'string' ? new Error(message) : message);
  });
});

it('formatServer does not fail if the URL cannot be read', () => {
  expect(['postgres://u:p@a,b/x', { file: '/missing' }].map(formatServer)).toEqual(['the URL', 'the URL in /missing']);
});

describe('a secret URL', () => {
  it('has no white space around it, and is read again each time from a file', () => {
    for (const text of ['postgres://a', ' postgres://b \t', 'postgres://c\r\n', '\ufeffpostgres://d']) {
      writeFileSync(secret, text);
      expect(readSecret({ file: secret })).toBe(text.trim());
      expect(readSecret(text)).toBe(text.trim());
    }
  });

  it('may be one of several, separated by commas', () => {
    expect(splitUrls('postgres://a,b/x ,\n postgres://c:1,d/x,rediss://e\n')).toEqual([
      'postgres://a,b/x',
      'postgres://c:1,d/x',
      'rediss://e',
    ]);
    writeFileSync(secret, 'postgres://a/x, postgres://c/x\n');
    expect([0, 1].map((index) => readSecret({ file: secret, index }))).toEqual(['postgres://a/x', 'postgres://c/x']);
    expect(() => readSecret({ file: secret, index: 2 })).toThrow(`cannot be read: ${secret} contains fewer URLs than before`);
  });
});
