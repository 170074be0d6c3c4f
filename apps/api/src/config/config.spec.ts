import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { validateHeaderValue } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSecret } from '@animal-store/database';
import { PublicUrl } from '@animal-store/http-kit';
import { integer, secret, Settings, text } from '@animal-store/kernel/settings';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from './config.js';
import { describeIgnored } from './ignored-variables.js';
import { StartupError } from './startup-errors.js';

const DATABASE_URL = 'postgres://store@localhost/store';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'config-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileWith(text: string): Promise<string> {
  const file = join(folder, randomUUID());
  await writeFile(file, text);
  return file;
}

describe('readConfig', () => {
  it('has a default for every variable except DATABASE_URL', () => {
    expect(readConfig({ DATABASE_URL })).toMatchObject({
      ...{ databaseUrl: DATABASE_URL, databaseReplicaUrls: [], citus: false },
      ...{ migrateOnStart: true, migrationDatabaseUrl: DATABASE_URL, host: '127.0.0.1', port: 3000, reusePort: false },
      ...{ adminPort: undefined, adminHost: '127.0.0.1', trustedProxies: [], redisUrl: undefined, publicBaseUrl: undefined },
      ...{ corsOrigins: [], environment: 'production', logLevel: 'info' },
    });
  });

  it.each([
    ['DATABASE_POOL_SIZE', 1, 1_000],
    ['DATABASE_CONNECT_TIMEOUT_MS', 1, 60_000],
    ['DATABASE_STATEMENT_TIMEOUT_MS', 0, 60_000],
    ['PORT', 0, 65_535],
    ['ADMIN_PORT', 0, 65_535],
    ['RATE_LIMIT', 0, 1_000_000_000],
    ['MAX_IN_FLIGHT', 1, 1_000_000],
    ['MAX_CONNECTIONS', 1, 1_000_000],
    ['MAX_EVENT_LOOP_LAG_MS', 1, 60_000],
    ['KEEP_ALIVE_SECONDS', 1, 3_600],
    ['DRAIN_SECONDS', 0, 600],
  ])('%s is an integer from %i to %i', (name, minimum, maximum) => {
    for (const value of [minimum, maximum]) expect(() => readConfig({ DATABASE_URL, [name]: String(value) })).not.toThrow();
    const rule = new StartupError(`${name} must be an integer from ${String(minimum)} to ${String(maximum)}`);
    for (const value of [minimum - 1, maximum + 1]) expect(() => readConfig({ DATABASE_URL, [name]: String(value) })).toThrow(rule);
  });

  it('reads booleans and lists', () => {
    for (const [text, value] of Object.entries({ true: true, on: true, yes: true, 1: true, false: false, off: false, no: false, 0: false }))
      expect(readConfig({ DATABASE_URL, MIGRATE_ON_START: text, CITUS: text })).toMatchObject({ migrateOnStart: value, citus: value });
    const env = { DATABASE_URL, TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,fd00::/8' };
    expect(readConfig(env)).toMatchObject({ trustedProxies: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'] });
  });

  it.each(['\n', '\r\n', ' ', '\t'])('reads URLs without %j around them, like files', (space) => {
    const url = `${space}${DATABASE_URL}${space}`;
    const REDIS_URL = `redis://localhost/1${space}`;
    expect(readConfig({ DATABASE_URL: url, MIGRATION_DATABASE_URL: url, DATABASE_REPLICA_URLS: url, REDIS_URL })).toMatchObject({
      databaseUrl: DATABASE_URL,
      migrationDatabaseUrl: DATABASE_URL,
      databaseReplicaUrls: [DATABASE_URL],
      redisUrl: 'redis://localhost/1',
    });
  });

  it.each(['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'DATABASE_REPLICA_URLS'])('rejects a line break within %s', (name) => {
    expect(() => readConfig({ DATABASE_URL, [name]: 'postgres://localhost/st\nore' })).toThrow(
      new StartupError(`${name} must not contain line breaks or other control characters`),
    );
  });

  it.each(['redis://us%40er:p%25ss@localhost:6380/2', 'redis://:secret@[::1]/', 'rediss://redis.example'])('accepts %s', (REDIS_URL) => {
    expect(readConfig({ DATABASE_URL, REDIS_URL }).redisUrl).toBe(REDIS_URL);
  });

  it.each([
    ...['http://localhost', 'localhost:6379', 'rediss://localhost?sslmode=require', 'redis://localhost/store', 'redis://localhost/0#x'],
    ...['redis://local\nhost', 'redis://:100%@localhost', 'redis://:a/b@localhost', 'redis://localhost:x', 'redis://'],
  ])('rejects %j as REDIS_URL', (REDIS_URL) => {
    const rule = 'REDIS_URL must be a redis:// or rediss:// URL without parameters';
    expect(() => readConfig({ DATABASE_URL, REDIS_URL })).toThrow(new StartupError(rule));
  });

  it('reads URLs of replicas, also from a file', async () => {
    const urls = ['postgres://store@db1/store', 'postgresql://store:a,b@db3:5433/store'];
    expect(readConfig({ DATABASE_URL, DATABASE_REPLICA_URLS: urls.join(', ') })).toMatchObject({ databaseReplicaUrls: urls });
    const file = await fileWith(`${urls.join(',\n')}\n`);
    const { databaseReplicaUrls } = readConfig({ DATABASE_URL, DATABASE_REPLICA_URLS_FILE: file });
    expect(databaseReplicaUrls).toEqual([
      { file, index: 0 },
      { file, index: 1 },
    ]);
    expect(databaseReplicaUrls.map(readSecret)).toEqual(urls);
  });

  it.each(['OTEL_EXPORTER_OTLP_CERTIFICATE', 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE'])(
    'rejects a file of %s that is empty or cannot be read',
    async (name) => {
      for (const [file, reason] of [
        [await fileWith(''), 'is empty'],
        ['/missing.pem', 'ENOENT'],
      ] as const)
        expect(() => readConfig({ DATABASE_URL, [name]: file })).toThrow(new RegExp(`^${name} cannot be read: .*${reason}`));
    },
  );

  it.each([
    [{ DATABASE_REPLICA_URLS: 'postgres://db1/store,' }, 'DATABASE_REPLICA_URLS must be a postgres:// URL'],
    [
      { OTEL_EXPORTER_OTLP_CLIENT_KEY: '/dev/null', OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: '/dev/null' },
      'OTEL_EXPORTER_OTLP_CLIENT_KEY cannot be read: /dev/null must be a file of at most 1048576 bytes\nOTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY cannot be read: /dev/null must be a file of at most 1048576 bytes',
    ],
    [{ DATABASE_REPLICA_URLS: 'postgres://db1/store,mysql://db2/store' }, 'DATABASE_REPLICA_URLS must be a postgres:// URL'],
    [
      { DATABASE_REPLICA_URLS: 'postgres://db1/store', CITUS: 'on' },
      'DATABASE_REPLICA_URLS must not be set with CITUS: the WAL position of a coordinator does not include its workers',
    ],
  ])('rejects %o', (env, rule) => {
    expect(() => readConfig({ DATABASE_URL, ...env })).toThrow(new StartupError(rule));
  });

  it.each([
    ...['10.0.0.0/33', '10.0.0/8', 'fd00::/129', '10.0.0.0/08', '10.0.0.0/8/8', 'loopback', '10.0.0.0/8,', 'fe80::1%eth0', '10.0.0.1:80'],
    // The proxy library would throw, or never match.
    ...['0.0.0.0/0', '::/0', '::ffff:10.0.0.0/8', '::ffff:10.0.0.0/104'],
  ])('rejects %s as a trusted proxy', (TRUSTED_PROXIES) => {
    const rule = 'TRUSTED_PROXIES must be IP addresses or CIDR ranges such as 10.0.0.0/8, separated by commas';
    expect(() => readConfig({ DATABASE_URL, TRUSTED_PROXIES })).toThrow(new StartupError(rule));
  });

  it.each([
    ['https://api.example.org', 'https://api.example.org'],
    ['https://api.example.org/store//', 'https://api.example.org/store'],
    ['  https://api.example.org/store\n', 'https://api.example.org/store'],
    ['HTTPS://API.Example.org:443/Store', 'https://api.example.org/Store'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example'],
    ['https://例え.jp/%2f', 'https://xn--r8jz45g.jp/%2f'],
    ['https://x/a/./b/../c', 'https://x/a/c'],
    ['http://127.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080/', 'http://[::1]:8080'],
    ["https://x/a,b;c='d'(e)@f:g", "https://x/a,b;c='d'(e)@f:g"],
  ])('makes links from the base URL %j that are valid URIs', (url, base) => {
    const config = readConfig({ DATABASE_URL, PUBLIC_BASE_URL: url, STAGING_BASE_URL: url, OTEL_EXPORTER_OTLP_ENDPOINT: url });
    expect([config.publicBaseUrl, config.stagingBaseUrl, config.otelExporterOtlpEndpoint]).toEqual([base, base, base]);
    const link = new PublicUrl(config.publicBaseUrl).of('/v1/pets/7');
    // RFC 3986, appendix A.
    expect(link).toMatch(/^https?:\/\/[\w.:[\]-]+(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*)*$/i);
    expect(new URL(link).href).toBe(link);
    expect(() => validateHeaderValue('location', link)).not.toThrow();
  });

  it.each([
    ...[
      'https://x?',
      'https://x/#',
      'https://:pw@x',
      'https://@x',
      'https://u@x/',
      'api.example.org',
      'https://x/?a=1',
      'https:/x',
      'https://',
    ],
    ...['https:\\\\x', 'https://x\\y', 'https://x/a b', 'https://x/a\tb', 'https://x\n.example', 'https://*.example', 'https://x:99999'],
    ...['ftp://x', '//x', 'https://x/\u0001', 'https://%zz', 'https://x/店', 'https://x/>', 'https://x/%zz'],
  ])('rejects %j as a base URL', (url) => {
    for (const name of ['PUBLIC_BASE_URL', 'STAGING_BASE_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT']) {
      const rule = `${name} must be an http(s) URL without user name, query or fragment`;
      expect(() => readConfig({ DATABASE_URL, [name]: url })).toThrow(new StartupError(rule));
    }
  });

  it('compares the origins that browsers send', () => {
    const CORS_ORIGINS = ' https://app.example.com/ ,HTTPS://APP.example.com:443, http://münchen.example:8080,http://[::1]:80\n';
    expect(readConfig({ DATABASE_URL, CORS_ORIGINS }).corsOrigins).toEqual([
      'https://app.example.com',
      'https://app.example.com',
      'http://xn--mnchen-3ya.example:8080',
      'http://[::1]',
    ]);
  });

  it.each([
    ...['null', '*', 'https://*.example.com', 'https://a.example/path', 'https://a.example?', 'https://u@a.example', 'https://a.example,'],
  ])('rejects %s as an origin', (CORS_ORIGINS) => {
    const rule = 'CORS_ORIGINS must be origins such as https://app.example.com, separated by commas';
    expect(() => readConfig({ DATABASE_URL, CORS_ORIGINS })).toThrow(new StartupError(rule));
  });

  it.each([
    [' 127.0.0.1\n', '127.0.0.1'],
    ['::', '::'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['localhost', 'localhost'],
    ['db_1.example-2.com.', 'db_1.example-2.com.'],
  ])('listens on %j', (text, address) => {
    expect(readConfig({ DATABASE_URL, HOST: text, ADMIN_HOST: text })).toMatchObject({ host: address, adminHost: address });
  });

  // getaddrinfo(3) takes 0, 127.1 and 0x7f.1 for IPv4 addresses.
  it.each(['0', '127.1', '0x7f.1', '1.2.3.256', '*', 'a b', 'a..b', '[::1]', 'localhost:80', 'http://localhost', 'é', '.'])(
    'rejects %j as an address to listen on',
    (value) => {
      for (const name of ['HOST', 'ADMIN_HOST']) {
        expect(() => readConfig({ DATABASE_URL, [name]: value })).toThrow(new StartupError(`${name} must be an IP address or host name`));
      }
    },
  );

  it('ignores white space around values, and empty ones', () => {
    const env = { PORT: ' 8080\n', CITUS: '\ttrue ', LOG_LEVEL: 'warn\r\n', ENVIRONMENT: ' test' };
    const values = { port: 8080, citus: true, logLevel: 'warn', environment: 'test' };
    expect(readConfig({ DATABASE_URL, ...env, HOST: ' \n', PUBLIC_BASE_URL: '' })).toMatchObject({
      ...values,
      host: '127.0.0.1',
      publicBaseUrl: undefined,
    });
  });

  it.each(['1e1', '+5', '0x5', '5.0', '1_0', '٥', '5 5', ''.padEnd(11, '0')])('rejects %j as an integer', (DRAIN_SECONDS) => {
    expect(() => readConfig({ DATABASE_URL, DRAIN_SECONDS })).toThrow(new StartupError('DRAIN_SECONDS must be an integer from 0 to 600'));
  });

  it.each([
    [{ DATABASE_URL: undefined }, 'DATABASE_URL is required but not set'],
    [{ DATABASE_URL: 'mysql://localhost/store' }, 'DATABASE_URL must be a postgres:// URL'],
    [{ DATABASE_URL: 'localhost:5432' }, 'DATABASE_URL must be a postgres:// URL'],
    [
      { DATABASE_URL: `${DATABASE_URL}?sslmode=verify-full&sslrootcert=/none/ca.pem` },
      "DATABASE_URL cannot be read: ENOENT: no such file or directory, open '/none/ca.pem'",
    ],
    [
      { DATABASE_URL_FILE: '/none/url', DATABASE_URL: undefined },
      "DATABASE_URL_FILE cannot be read: ENOENT: no such file or directory, open '/none/url'",
    ],
    [{ REDIS_URL_FILE: '/none/url' }, "REDIS_URL_FILE cannot be read: ENOENT: no such file or directory, open '/none/url'"],
    [{ PORT: '3000.5' }, 'PORT must be an integer from 0 to 65535'],
    [{ LOG_REQUESTS_SAMPLE: '2' }, 'LOG_REQUESTS_SAMPLE must be a number from 0 to 1'],
    [{ MIGRATION_DATABASE_URL: 'localhost' }, 'MIGRATION_DATABASE_URL must be a postgres:// URL'],
    [{ ENVIRONMENT: 'Prod!' }, 'ENVIRONMENT must be 1 to 20 lower-case letters and digits, starting with a letter'],
    [{ MIGRATE_ON_START: 'maybe' }, 'MIGRATE_ON_START must be one of true, on, yes, 1, false, off, no, 0'],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
    [{ CITUS: 'TRUE' }, 'CITUS must be one of true, on, yes, 1, false, off, no, 0'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent'],
  ])('rejects %o with one clear line', (env, message) => {
    expect(() => readConfig({ DATABASE_URL, ...env })).toThrow(new StartupError(message));
  });

  it('reads secrets from files', async () => {
    const [database, migrations, redis] = [
      await fileWith(`${DATABASE_URL}\n`),
      await fileWith(DATABASE_URL),
      await fileWith('redis://localhost'),
    ];
    const env = { DATABASE_URL_FILE: database, REDIS_URL_FILE: redis };
    const files = { databaseUrl: { file: database }, migrationDatabaseUrl: { file: database }, redisUrl: { file: redis } };
    expect(readConfig(env)).toMatchObject(files);
    expect(readConfig({ ...env, MIGRATION_DATABASE_URL_FILE: migrations })).toMatchObject({
      ...files,
      migrationDatabaseUrl: { file: migrations },
    });
  });

  it.each(['DATABASE_URL', 'DATABASE_REPLICA_URLS', 'MIGRATION_DATABASE_URL'].flatMap((name) => [name, `${name}_FILE`]))(
    'rejects an empty %s, which would select another database',
    (name) => {
      for (const value of ['', ' '])
        expect(() => readConfig({ DATABASE_URL, [name]: value })).toThrow(new StartupError(`${name} is empty: set or unset it`));
    },
  );

  it('accepts an empty REDIS_URL, as Compose sets it, and no empty REDIS_URL_FILE', () => {
    expect(readConfig({ DATABASE_URL, REDIS_URL: '' }).redisUrl).toBeUndefined();
    expect(() => readConfig({ DATABASE_URL, REDIS_URL_FILE: '' })).toThrow(new StartupError('REDIS_URL_FILE is empty: set or unset it'));
  });

  it('reads files with a byte order mark and Windows line breaks', async () => {
    const DATABASE_URL_FILE = await fileWith(`\ufeff${DATABASE_URL}\r\n\r\n`);
    expect(readSecret(readConfig({ DATABASE_URL_FILE }).databaseUrl)).toBe(DATABASE_URL);
  });

  it('rejects pipes, devices, folders, and empty and large files, without reading them', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [pipe, '/dev/zero', folder, await fileWith('x'.repeat(1_048_577))]) {
      const rule = `DATABASE_URL_FILE cannot be read: ${file} must be a file of at most 1048576 bytes`;
      expect(() => readConfig({ DATABASE_URL_FILE: file })).toThrow(new StartupError(rule));
    }
    const DATABASE_URL_FILE = await fileWith(' \n');
    expect(() => readConfig({ DATABASE_URL_FILE })).toThrow(
      new StartupError(`DATABASE_URL_FILE cannot be read: ${DATABASE_URL_FILE} is empty`),
    );
  });

  it('rejects a variable together with its file, and names the file with an invalid URL', async () => {
    const DATABASE_URL_FILE = await fileWith('mysql://localhost');
    expect(() => readConfig({ DATABASE_URL_FILE })).toThrow(new StartupError('DATABASE_URL_FILE must be a postgres:// URL'));
    expect(() => readConfig({ DATABASE_URL, DATABASE_URL_FILE })).toThrow('DATABASE_URL_FILE and DATABASE_URL must not both be set');
  });

  describe('of contexts', () => {
    class PaymentSettings extends Settings({
      PAYMENTS_KEY: secret(text)({ desc: '', devDefault: 'none' }),
      PAYMENTS_LIMIT: integer(1, 9)({ desc: '', default: 5 }),
    }) {}
    const contexts = [{}, { settings: [PaymentSettings] }];
    const read = (env: NodeJS.ProcessEnv) => readConfig({ DATABASE_URL, ...env }, contexts).contextSettings.get(PaymentSettings);

    it('has an instance of each class of settings, whose secrets are read for each use and are not enumerable', async () => {
      expect(read({ PAYMENTS_KEY: ' secret\n' })).toMatchObject({ PAYMENTS_KEY: 'secret', PAYMENTS_LIMIT: 5 });
      const PAYMENTS_KEY_FILE = await fileWith('first\n');
      const settings = read({ PAYMENTS_KEY_FILE }) as PaymentSettings;
      expect([settings.PAYMENTS_KEY, JSON.stringify(settings)]).toEqual(['first', '{"PAYMENTS_LIMIT":5}']);
      await writeFile(PAYMENTS_KEY_FILE, 'second\n');
      expect(settings.PAYMENTS_KEY).toBe('second');
    });

    it('rejects missing and invalid ones together with those of the platform', () => {
      expect(() => readConfig({ PAYMENTS_LIMIT: '10' }, contexts)).toThrow(
        new StartupError(
          'DATABASE_URL is required but not set\nPAYMENTS_KEY is required but not set\nPAYMENTS_LIMIT must be an integer from 1 to 9',
        ),
      );
      expect(() => read({ PAYMENTS_KEY_FILE: '/none' })).toThrow(/^PAYMENTS_KEY_FILE cannot be read: ENOENT/);
    });

    it('has the value of `devDefault` only outside of production', () => {
      for (const NODE_ENV of ['development', 'test']) expect(read({ NODE_ENV })).toMatchObject({ PAYMENTS_KEY: 'none' });
      expect(() => read({ NODE_ENV: 'production' })).toThrow('PAYMENTS_KEY is required but not set');
      expect(() => read({ NODE_ENV: 'staging' })).toThrow('NODE_ENV must be one of production, development, test');
    });

    it.each([
      ...['PORT', 'PAYMENTS_KEY'].map((name) => [name, `must not declare ${name}, because another declaration exists`] as const),
      ...['payments-url', 'CERTIFICATE_FILE'].map(
        (name) => [name, `must declare ${name} in upper case and without _FILE at the end`] as const,
      ),
    ])('rejects the declaration of %s', (name, rule) => {
      class OtherSettings extends Settings({ [name]: text({ desc: '', default: '' }) }) {}
      const read = () => readConfig({ DATABASE_URL }, [...contexts, { settings: [OtherSettings] }]);
      expect(read).toThrow(new StartupError(`OtherSettings ${rule}`));
    });
  });
});

it.each([
  ...['OTEL_TRACES_SAMPLER', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_SDK_DISABLED', 'OTEL_PROPAGATORS'],
  ...['OTEL_EXPORTER_OTLP_TIMEOUT', 'OTEL_EXPORTER_OTLP_COMPRESSION', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_RESOURCE_ATTRIBUTES'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'https_proxy', 'no_proxy', 'ALL_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['WEB_CONCURRENCY', 'LISTEN_FDS', 'NOTIFY_SOCKET', 'FORCE_COLOR'],
])('one line says that %s has no effect, without its value', (name) => {
  const [line = '', ...others] = describeIgnored({ [name]: 'http://user:secret@host' });
  expect(others).toEqual([]);
  expect(line).toMatch(new RegExp(`^${name} has no effect: `));
  expect(line).not.toContain('secret');
});

it.each([
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_SERVICE_NAME', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_RESOURCE_ATTRIBUTES=a=b,c=d'],
  ...['OTEL_EXPORTER_OTLP_HEADERS=a=b', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=500', 'OTEL_EXPORTER_OTLP_CERTIFICATE'],
  ...['OTEL_EXPORTER_OTLP_COMPRESSION=gzip', 'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE', 'OTEL_EXPORTER_OTLP_CLIENT_KEY'],
  ...['TZ', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'UV_THREADPOOL_SIZE', 'NO_COLOR', 'PGSSLROOTCERT', 'PGOPTIONS', 'PATH', 'PORT'],
])('%s is honoured, so no line is written', (variable) => {
  const [name = '', value = 'set'] = variable.split(/=(.*)/);
  expect(describeIgnored({ [name]: value })).toEqual([]);
});

it('an empty variable counts as unset', () => {
  expect(describeIgnored({ HTTPS_PROXY: '' })).toEqual([]);
});
