import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { formatServers, parseDatabaseUrl } from './database-url.js';

/** Sets the environment, without variables of libpq unless given. */
const setEnv = (env: NodeJS.ProcessEnv) => jest.replaceProperty(process, 'env', env);

beforeEach(() => void setEnv({}));
afterEach(() => {
  jest.restoreAllMocks();
});

/** Parameters that are rejected with any value. */
const REJECTED = [
  ...['passfile', 'requirepeer', 'sslcrl', 'sslcrldir', 'sslkeylogfile', 'krbsrvname', 'gsslib', 'servicefile'],
  ...['keepalives_idle', 'keepalives_interval', 'keepalives_count', 'scram_client_key', 'scram_server_key'],
  ...['oauth_issuer', 'oauth_client_id', 'oauth_client_secret', 'oauth_scope'],
];
const UNKNOWN = [
  ...['sslmod', 'SSLMODE', 'query_timeout', 'statement_timeout', 'Client', 'max', 'Promise', 'connectionString', 'ssl'],
  ...['constructor', '__proto__'],
];

/** Returns the TLS options, or the message of the error. */
const outcome = (url: string) => {
  try {
    return parseDatabaseUrl(url).tls;
  } catch (error) {
    return (error as Error).message;
  }
};

const serversOf = (url: string) => parseDatabaseUrl(url).servers.map(({ host, port }) => `${host} ${String(port)}`);

describe('parseDatabaseUrl', () => {
  const nothing = { user: undefined, password: undefined, database: undefined, isReadWrite: false, tls: [false], parameters: {} };

  it('returns every part of a URL, decoded', () => {
    expect(
      parseDatabaseUrl(
        'postgresql://st%40re:se:cr%2Fet@db1.example:6432,db2.example/cat%20alogue?application_name=a%3Db&options=-c%20x%3Dy&target_session_attrs=read-write&connect_timeout=3',
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
      connectTimeoutMs: 3_000,
      parameters: { application_name: 'a=b', options: '-c x=y' },
    });
  });

  it('leaves out what is missing', () => {
    for (const url of ['postgres://', 'postgres:///', 'postgres://@/', 'postgres://:@/?', 'postgres:///?target_session_attrs=any&']) {
      expect(parseDatabaseUrl(url)).toEqual({ ...nothing, servers: [{ host: 'localhost', port: 5432 }], connectTimeoutMs: undefined });
    }
    expect(parseDatabaseUrl('postgres://store@/')).toMatchObject({ user: 'store', password: undefined });
    expect(parseDatabaseUrl('postgres:///?connect_timeout=0')).toMatchObject({ connectTimeoutMs: undefined });
  });

  // Expected values are those of PQconninfoParse of libpq 15, with its defaults for the port and this library's default for the host.
  it.each([
    ['postgres://a:1,b:2/x', ['a 1', 'b 2'], {}],
    ['postgres://[::1]:6432,[fe80::2]/x', ['::1 6432', 'fe80::2 5432'], {}],
    ['postgres://a:,b:65535', ['a 5432', 'b 65535'], { database: undefined }],
    ['postgres://:5433/x', ['localhost 5433'], {}],
    ['postgres://h%2Ck/x', ['h 5432', 'k 5432'], {}],
    ['postgres://h/a/b', ['h 5432'], { database: 'a/b' }],
    ['postgres://u@%2Fpath:5433/x', ['/path 5433'], { user: 'u' }],
    ['postgres://u@%2Fpath:/x', ['/path 5432'], { user: 'u' }],
    ['postgres://%2Fvar%2Frun%3A1/x', ['/var/run:1 5432'], {}],
    ['postgres://u@%2Ftmp,%2Fvar:1/x', ['/tmp 5432', '/var 1'], { user: 'u' }],
    ['postgres:///x?host=/path', ['/path 5432'], {}],
    ['postgres:///x?host=/tmp/a,b&port=1,2', ['/tmp/a 1', 'b 2'], {}],
    ['postgres://h/x?user=u&password=p%40w', ['h 5432'], { user: 'u', password: 'p@w' }],
    ['postgres://a:1@h:5/x?user=b&password=c&host=k&port=7&dbname=y', ['k 7'], { user: 'b', password: 'c', database: 'y' }],
    ['postgres://a@h/x?user=&dbname=', ['h 5432'], { user: undefined, database: undefined }],
    ['postgres://replaced:9/x?host=a', ['a 9'], {}],
    ['postgres://replaced:9/x?host=a,b,c&port=7', ['a 7', 'b 7', 'c 7'], {}],
    ['postgres://a,b:3,c/x?port=1,2,', ['a 1', 'b 2', 'c 5432'], {}],
    ['postgres://h/x?port=1&port=2&host=a&host=b', ['b 2'], {}],
    ['postgres:///x?host=fe80::1', ['fe80::1 5432'], {}],
  ])('%s names the servers %j and %j', (url, servers, others) => {
    expect(serversOf(url)).toEqual(servers);
    expect(parseDatabaseUrl(url)).toMatchObject({ user: undefined, password: undefined, database: 'x', ...others });
  });

  it('uses the defaults of libpq in the environment', () => {
    setEnv({ PGHOST: 'db.example', PGPORT: '6543', PGSSLMODE: 'require', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd' });
    expect(serversOf('postgres:///x')).toEqual(['db.example 6543']);
    expect(serversOf('postgres://a:1/x')).toEqual(['a 1']);
    // Like libpq: with several hosts, the URL has their ports.
    expect(serversOf('postgres://a,b/x')).toEqual(['a 5432', 'b 5432']);
    expect(parseDatabaseUrl('postgres://')).toMatchObject({
      user: 'u',
      password: 'p',
      database: 'd',
      tls: [{ rejectUnauthorized: false }],
    });
    expect(parseDatabaseUrl('postgres://a:b@/c?sslmode=disable')).toMatchObject({ user: 'a', password: 'b', database: 'c', tls: [false] });
    setEnv({ PGTARGETSESSIONATTRS: 'read-write', PGOPTIONS: '-c x=y', PGCONNECT_TIMEOUT: '2', PGHOST: '' });
    expect(parseDatabaseUrl('postgres://')).toMatchObject({
      isReadWrite: true,
      parameters: { options: '-c x=y' },
      connectTimeoutMs: 2_000,
    });
  });

  it('accepts = within a value, which libpq requires to be encoded', () => {
    expect(parseDatabaseUrl('postgres:///x?options=-c%20x=y')).toMatchObject({ parameters: { options: '-c x=y' } });
  });

  it('accepts the ssl=true of JDBC', () => {
    expect(parseDatabaseUrl('postgres:///x?ssl=true')).toMatchObject({ tls: [{ rejectUnauthorized: false }], parameters: {} });
    expect(parseDatabaseUrl('postgres:///x?sslmode=disable&ssl=true').tls).toEqual([{ rejectUnauthorized: false }]);
    expect(parseDatabaseUrl('postgres:///x?ssl=true&sslmode=disable').tls).toEqual([false]);
  });

  it('passes the parameters of TLS to it, and not to `pg`', () => {
    const url = 'postgres://h/x?sslmode=verify-full&ssl_min_protocol_version=TLSv1.3&ssl_max_protocol_version=TLSv1.3&sslpassword=s';
    const options = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', passphrase: 's' };
    expect(parseDatabaseUrl(url)).toMatchObject({ tls: [options], parameters: {} });
    expect(parseDatabaseUrl('postgres://h?sslmode=require&sslnegotiation=direct').parameters).toEqual({ sslnegotiation: 'direct' });
    expect(parseDatabaseUrl('postgres://h?sslnegotiation=postgres').parameters).toEqual({});
  });

  it('uses no TLS on Unix sockets, like libpq', () => {
    const url = 'postgres://%2Ftmp/x?sslmode=require&sslnegotiation=direct';
    expect(parseDatabaseUrl(url)).toMatchObject({ tls: [false], parameters: {} });
    expect(parseDatabaseUrl(url.replace('%2Ftmp', '%2Ftmp,h')).tls).toEqual([{ rejectUnauthorized: false }]);
  });

  it.each([
    'channel_binding=disable',
    'channel_binding=prefer',
    'gssencmode=disable',
    'gssencmode=prefer',
    'client_encoding=UTF8',
    'keepalives=1',
    'load_balance_hosts=disable',
    'sslcertmode=allow',
    'sslcompression=0',
    'sslsni=1',
    'tcp_user_timeout=0',
    'min_protocol_version=3.0',
    'max_protocol_version=latest',
    'replication=off',
    'gssdelegation=0',
  ])('accepts %s, which is what it does', (parameter) => {
    expect(parseDatabaseUrl(`postgres:///x?${parameter}`)).toMatchObject({ ...nothing, database: 'x', parameters: {} });
  });

  it.each([
    ['channel_binding=require', /^must not have the parameter channel_binding other than disable, prefer: .*sslmode=verify-full/],
    ['gssencmode=require', /^must not have the parameter gssencmode other than disable, prefer: /],
    ['require_auth=scram-sha-256', /^must not have the parameter require_auth: /],
    ['client_encoding=LATIN1', /^must not have the parameter client_encoding other than UTF8/],
    ['keepalives=0', /^must not have the parameter keepalives other than 1: /],
    ['hostaddr=1.2.3.4', /^must not have the parameter hostaddr: write the address as the host$/],
    ['service=x', /^must not have the parameter service: write the host/],
    ...REJECTED.map((name): [string, RegExp] => [`${name}=1`, new RegExp(`^must not have the parameter ${name}: .*remove|write`)]),
    ...[
      'requiressl=1',
      'sslcertmode=require',
      'sslcompression=1',
      'sslsni=0',
      'tcp_user_timeout=1',
      'min_protocol_version=3.2',
      'max_protocol_version=2.0',
      'replication=database',
      'gssdelegation=1',
      'load_balance_hosts=random',
    ].map((pair): [string, RegExp] => [pair, new RegExp(`^must not have the parameter ${pair.split('=')[0]} other than `)]),
    ...UNKNOWN.map((name): [string, RegExp] => [
      `${name}=1`,
      new RegExp(`^must not have the parameter ${name}, which libpq does not know: check its spelling, or remove it$`),
    ]),
    ['pa%20ss=w@host', /^must not have a parameter, which libpq does not know/],
    ['=x', /^must not have a parameter, which libpq does not know/],
  ])('rejects %s', (parameter, message) => {
    const url = `postgres://u:hunter2@h/x?${parameter}`;
    expect(() => parseDatabaseUrl(url)).toThrow(message);
    expect(() => parseDatabaseUrl(url)).not.toThrow(/hunter2/);
  });

  it.each([
    ['PGCHANNELBINDING', 'require'],
    ['PGGSSENCMODE', 'require'],
    ['PGREQUIREAUTH', 'scram-sha-256'],
    ['PGREQUIREPEER', 'postgres'],
    ['PGREQUIRESSL', '1'],
    ['PGSSLCRL', '/crl'],
    ['PGSSLCRLDIR', '/crl'],
    ['PGSSLCERTMODE', 'require'],
    ['PGHOSTADDR', '1.2.3.4'],
    ['PGSERVICE', 'x'],
    ['PGLOADBALANCEHOSTS', 'random'],
    ['PGMINPROTOCOLVERSION', '3.2'],
  ])('rejects the environment variable %s=%s unless the URL overrides it', (variable, value) => {
    setEnv({ [variable]: value });
    expect(() => parseDatabaseUrl('postgres://h/x')).toThrow(
      new RegExp(`^must not have the parameter .* of the environment variable ${variable}`),
    );
    setEnv({ PGCHANNELBINDING: 'require' });
    expect(parseDatabaseUrl('postgres://h/x?channel_binding=prefer').tls).toEqual([false]);
  });

  it.each([
    ['PGSSLROOTCERT', 'system'],
    ['PGSSLMINPROTOCOLVERSION', 'TLSv1.3'],
    ['PGSSLNEGOTIATION', 'direct'],
  ])('does not ignore the environment variable %s=%s', (variable, value) => {
    setEnv({ [variable]: value });
    expect(outcome('postgres://h/x')).not.toEqual([false]);
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
    ['postgres://a,b,c?port=1,2', 'must have one port, or one port per host'],
    ['postgres://a:1,b:2/x?host=a', 'must have one port, or one port per host'],
    ['postgres:///x?host=a:1', 'must have a host without a port and without spaces; use the parameter port'],
    ['postgres://a /x', 'must have a host without a port and without spaces; use the parameter port'],
    ['postgres://a/%zz', 'must be percent-encoded; write % as %25'],
    ['postgres://%zz@a/', 'must be percent-encoded; write % as %25'],
    ['postgres://a?options=%zz', 'must be percent-encoded; write % as %25'],
    ['postgres://a?application_name', 'must have parameters such as name=value'],
    ['postgres://a?target_session_attrs=primary', 'must have a target_session_attrs of any or read-write'],
    ['postgres://a?connect_timeout=1.5', 'must have a connect_timeout in whole seconds'],
    ['postgres://a?sslmode=', 'must have an sslmode of disable, allow, prefer, require, verify-ca or verify-full'],
    ['postgres://a/x\n', 'must not contain line breaks or other control characters'],
    ['postgres://a/x\r\n', 'must not contain line breaks or other control characters'],
    ['postgres://u:p\tw@a/x', 'must not contain line breaks or other control characters'],
    ['postgres://a/x%0A', 'must not contain line breaks or other control characters'],
    ['postgres://a/x?application_name=%1B', 'must not contain line breaks or other control characters'],
    ['postgres://u:%00@a/x', 'must not contain %00'],
  ])('rejects %j: it %s', (url, message) => {
    expect(() => parseDatabaseUrl(url)).toThrow(new Error(message));
  });
});

it('formatServers returns hosts and ports without credentials', () => {
  expect(formatServers(parseDatabaseUrl('postgres://store:secret@a,[::1]:6432/x'))).toBe('a:5432,[::1]:6432');
});
