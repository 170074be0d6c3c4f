import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { formatServers, parseDatabaseUrl } from './database-url.js';

/** Sets the environment, without variables of libpq unless given. */
const setEnv = (env: NodeJS.ProcessEnv) => jest.replaceProperty(process, 'env', env);

beforeEach(() => void setEnv({}));
afterEach(() => {
  jest.restoreAllMocks();
});

const serversOf = (url: string) => parseDatabaseUrl(url).servers.map(({ host, port }) => `${host} ${String(port)}`);

describe('parseDatabaseUrl', () => {
  it('returns every part of a URL, decoded', () => {
    expect(
      parseDatabaseUrl(
        'postgresql://st%40re:se:cr%2Fet@db1.example:6432,db2.example/cat%20alogue?application_name=a%3Db&options=-c%20x=y&target_session_attrs=read-write',
      ),
    ).toEqual({
      servers: [
        { host: 'db1.example', port: 6432 },
        { host: 'db2.example', port: 5432 },
      ],
      user: 'st@re',
      password: 'se:cr/et',
      database: 'cat alogue',
      isReadWrite: true,
      tls: [false],
      parameters: { application_name: 'a=b', options: '-c x=y' },
    });
  });

  it('leaves out what is missing', () => {
    const target = { user: undefined, password: undefined, database: undefined, isReadWrite: false, tls: [false], parameters: {} };
    for (const url of ['postgres://', 'postgres:///', 'postgres://@/', 'postgres://:@/?', 'postgres:///?&target_session_attrs=any&']) {
      expect(parseDatabaseUrl(url)).toEqual({ ...target, servers: [{ host: 'localhost', port: 5432 }] });
    }
    expect(parseDatabaseUrl('postgres://store@/')).toMatchObject({ user: 'store', password: undefined });
    expect(parseDatabaseUrl('postgres://localhost?connect_timeout')).toMatchObject({ parameters: { connect_timeout: '' } });
  });

  it.each([
    ['postgres://a:1,b:2/x', ['a 1', 'b 2']],
    ['postgres://[::1]:6432,[fe80::2]/x', ['::1 6432', 'fe80::2 5432']],
    ['postgres://a:,b:65535', ['a 5432', 'b 65535']],
    ['postgres://%2Fvar%2Frun%3A1/x', ['/var/run:1 5432']],
    ['postgres:///x?host=/tmp/a,b&port=1,2', ['/tmp/a 1', 'b 2']],
    ['postgres://ignored:9/x?host=a,b,c&port=7', ['a 7', 'b 7', 'c 7']],
    ['postgres://a,b:3,c/x?port=1,2,', ['a 1', 'b 3', 'c 5432']],
  ])('%s names the servers %j', (url, servers) => {
    expect(serversOf(url)).toEqual(servers);
  });

  it('uses the defaults of libpq in the environment', () => {
    setEnv({ PGHOST: 'db.example', PGPORT: '6543', PGSSLMODE: 'require' });
    expect(serversOf('postgres:///x')).toEqual(['db.example 6543']);
    expect(serversOf('postgres://a:1/x')).toEqual(['a 1']);
    expect(parseDatabaseUrl('postgres:///x').tls).toEqual([{ rejectUnauthorized: false }]);
    expect(parseDatabaseUrl('postgres:///x?ssl=false').tls).toEqual([{ rejectUnauthorized: false }]);
    expect(parseDatabaseUrl('postgres:///x?sslmode=disable&ssl=true').tls).toEqual([false]);
  });

  it('accepts ssl=true and passes neither it nor other TLS parameters on', () => {
    expect(parseDatabaseUrl('postgres:///x?ssl=true')).toMatchObject({ tls: [{ rejectUnauthorized: false }], parameters: {} });
    expect(parseDatabaseUrl('postgres:///x?ssl=1')).toMatchObject({ tls: [false], parameters: {} });
    expect(parseDatabaseUrl('postgres:///x?sslmode=prefer').parameters).toEqual({});
  });

  it.each([
    ['mysql://localhost', 'must be a postgres:// URL'],
    [' postgres://localhost', 'must be a postgres:// URL'],
    ['postgres://localhost/x#fragment', 'must be a postgres:// URL'],
    ['postgres://a:b:c', 'must have hosts such as db1.example:5432,db2.example:5432'],
    ['postgres://a:x', 'must have hosts such as db1.example:5432,db2.example:5432'],
    ['postgres://a:123456', 'must have hosts such as db1.example:5432,db2.example:5432'],
    ['postgres://[::1', 'must have hosts such as db1.example:5432,db2.example:5432'],
    ['postgres://a:0', 'must have ports from 1 to 65535'],
    ['postgres://a:65536', 'must have ports from 1 to 65535'],
    ['postgres://a?port=http', 'must have ports from 1 to 65535'],
    ['postgres://a/%zz', 'must be percent-encoded; write % as %25'],
    ['postgres://%zz@a/', 'must be percent-encoded; write % as %25'],
    ['postgres://a?x=%zz', 'must be percent-encoded; write % as %25'],
    ['postgres://a?target_session_attrs=primary', 'must have a target_session_attrs of any or read-write'],
    ['postgres://a?sslmode=always', 'must have an sslmode of disable, allow, prefer, require, verify-ca or verify-full'],
  ])('rejects %s: it %s', (url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(new Error(message));
  });
});

it('formatServers returns hosts and ports without credentials', () => {
  expect(formatServers(parseDatabaseUrl('postgres://store:secret@a,[::1]:6432/x'))).toBe('a:5432,[::1]:6432');
});
