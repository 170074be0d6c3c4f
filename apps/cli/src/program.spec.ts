import { generateApiKeySecret, type KeyEnvironment, prefixOf } from '@animal-store/access-domain';
import { describe, expect, it } from '@jest/globals';
import { integerParser, parseDuration, parseId, parseScopes } from './arguments.js';
import { toJson, toList } from './output.js';
import { runAnimalStore } from './testing/run-animal-store.js';

/** No server listens on this port: a command that connects fails with exit code 1. */
const DATABASE_URL = 'postgres://somebody:secret@127.0.0.1:1/animals';

const runOffline = (args: readonly string[], env: Readonly<Record<string, string>> = { DATABASE_URL }) => runAnimalStore(env, args);

describe('a wrong command line', () => {
  it.each([
    [['keys', 'create']],
    [['keys', 'revoke', 'ast_local_abcdef']],
    [['clients', 'set-rate-limit', 'acme', 'many']],
    ...['0', '10001'].map((limit) => [['keys', 'audit', '--limit', limit]]),
    [['migrate', 'up', '--wait', 'long']],
    [['grants', 'service']],
    [['grants', 'everything', 'somebody']],
    [['doctor', '--instances', '0']],
    ...['0', '1000000001'].map((count) => [['seed', '--count', count]]),
    ...['-1', '1000000001'].map((seed) => [['seed', '--count', '1', '--seed', seed]]),
  ])('%j is rejected with exit code 2', async (args) => {
    const { exitCode, stdout, stderr } = await runOffline(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each([[[]], [['keys']], [['clients']], [['events']], [['migrate']]])('%j prints the help and exits with code 2', async (args) => {
    const { exitCode, stdout, stderr } = await runOffline(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: animal-store /);
  });

  it.each([
    [{ DATABASE_URL: 'mysql://somebody:secret@localhost' }, 'error: DATABASE_URL must be a postgres:// URL\n'],
    [{ DATABASE_URL: '' }, 'error: DATABASE_URL is empty: set or unset it\n'],
    [{ DATABASE_URL_FILE: '' }, 'error: DATABASE_URL_FILE is empty: set or unset it\n'],
    [{ DATABASE_URL_FILE: '/none/url' }, "error: DATABASE_URL_FILE cannot be read: ENOENT: no such file or directory, open '/none/url'\n"],
    [
      { DATABASE_URL, OPERATOR: ' carol' },
      'error: OPERATOR must be 1 to 100 printable characters without a space at the beginning or end, or next to another space, and must not contain an API key\n',
    ],
    [{ DATABASE_URL, DATABASE_URL_FILE: '/none/url' }, 'error: DATABASE_URL_FILE and DATABASE_URL must not both be set\n'],
  ])('is rejected in the environment %j without repeating it', async (env, stderr) => {
    expect(await runOffline(['keys', 'list'], env)).toEqual({ exitCode: 2, stdout: '', stderr });
  });
});

describe('an API key in the wrong place', () => {
  const key = generateApiKeySecret('production' as KeyEnvironment);
  const secret = key.slice(prefixOf(key).length);

  it.each([
    [['KEY']],
    [['keys', 'list', '--KEY']],
    [['keys', 'create', '--client', 'of KEY']],
    [['keys', 'create', '--client', 'acme', '--scope', 'KEY']],
    [['keys', 'create', '--client', 'acme', 'KEY']],
    [['keys', 'rotate', 'KEY']],
    [['clients', 'set-rate-limit', 'acme', 'KEY']],
    [['keys', 'revoke', '1', 'KEY']],
    [['migrate', 'KEY']],
  ])('is not repeated by %j', async (args) => {
    const { exitCode, stdout, stderr } = await runOffline(args.map((arg) => arg.replace('KEY', key)));
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n/);
    expect(stderr).not.toContain(secret);
  });

  it.each([[key], [`carol ${key}`]])('is not accepted as the operator', async (operator) => {
    const { exitCode, stdout, stderr } = await runOffline(['keys', 'list'], { DATABASE_URL, OPERATOR: operator });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: OPERATOR must .* must not contain an API key\n$/);
    expect(stderr).not.toContain(secret);
  });

  it.each([
    [['keys', 'list'], { DATABASE_URL: `postgres://127.0.0.1:1/${key}` }],
    [['doctor'], { DATABASE_URL_FILE: key }],
    [['doctor', '--json'], { DATABASE_URL_FILE: key }],
  ])('is not repeated from the environment by %j', async (args, env) => {
    const { exitCode, stdout, stderr } = await runOffline(args, env);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).not.toContain(secret);
  });
});

describe('--help', () => {
  it.each(['', 'doctor', 'events', 'keys', 'keys create', 'clients', 'grants', 'migrate', 'migrate up', 'seed'])(
    'explains %j',
    async (command) => {
      const words = command.split(' ').filter(Boolean);
      const { exitCode, stdout, stderr } = await runOffline([...words, '--help']);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^Usage: ${['animal-store', ...words].join(' ')} `));
      // Each argument, option and command has a description.
      expect(stdout.split('\n').filter((line) => /^ {2}\S/.test(line) && !/\S {2,}\S/.test(line))).toEqual([]);
    },
  );
});

it('--version prints the version', async () => {
  expect(await runOffline(['--version'])).toEqual({ exitCode: 0, stdout: 'animal-store 1.0.0 (commit unknown)\n', stderr: '' });
});

describe('grants', () => {
  it('prints the statements of the purpose as a script', async () => {
    const [service, keys] = [await runOffline(['grants', 'service', 'the app']), await runOffline(['grants', 'keys', 'the app'])];
    for (const { exitCode, stdout, stderr } of [service, keys]) {
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^BEGIN;\n[^]*;\nCOMMIT;\n$/);
    }
    expect(service.stdout).toMatch(/^GRANT SELECT, INSERT\b.* ON pets\.pets TO "the app";$/m);
    expect(keys.stdout).toContain('ON access.audit_events TO "the app";\n');
    expect(keys.stdout).not.toMatch(/^GRANT .*pets/m);
  });
});

describe('a database that cannot be reached', () => {
  it.each([[['keys', 'list']], [['migrate', 'status']], [['seed', '--count', '1']]])('is reported by %j', async (args) => {
    const { exitCode, stdout, stderr } = await runOffline(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^error: the database cannot be used: .*ECONNREFUSED.*\n$/);
    expect(stderr).not.toContain('secret');
  });
});

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '90', 'd', '90D', '90 d', '-1d', '1.5h', '1h30m', '1y', '9'.repeat(20) + 's', 'toString'])('is not %j', (text) =>
    expect(() => parseDuration(text)).toThrow('It must be a number and a unit, such as 30s, 15m, 24h, 90d or 2w.'),
  );
});

describe('an integer', () => {
  const parse = integerParser(1, 100);
  it.each(['1', '42', '100'])('may be %s', (text) => expect(parse(text)).toBe(Number(text)));
  it.each(['0', '101', '', ' 1', '1.0', '1e1', '0x1', '-1', '9'.repeat(400)])('is not %j', (text) =>
    expect(() => parse(text)).toThrow('It must be an integer from 1 to 100.'),
  );
});

it('scopes are separated by commas or given by several options', () => {
  expect(parseScopes('pets:read, pets:write,pets:read')).toEqual(['pets:read', 'pets:write']);
  expect(parseScopes('pets:write', parseScopes('pets:read'))).toEqual(['pets:read', 'pets:write']);
});

describe('an id', () => {
  it.each(['1', '9223372036854775807'])('may be %s', (text) => expect(parseId(text)).toBe(BigInt(text)));
  it.each(['', 'x', '9223372036854775808'])('is not %j', (text) => expect(() => parseId(text)).toThrow('It must be an id.'));
});

const expiresAt = new Date('2026-11-21T12:00:00.999Z');

describe('output', () => {
  it('writes exact integers and UTC dates as JSON', () => {
    const text = toJson({ id: 9223372036854775807n, at: expiresAt, none: null });
    expect(text.replace(/\s/g, '')).toBe('{"id":9223372036854775807,"at":"2026-11-21T12:00:00.999Z","none":null}');
  });

  it('shows a time that JavaScript cannot represent, rather than null or an error', () => {
    const rows = [{ expiresAt: Object.assign(new Date(NaN), { toJSON: () => 'infinity' }), none: null }];
    expect(toList('keys', rows, { json: true }).replace(/\s/g, '')).toBe('[{"expiresAt":"infinity","none":null}]');
    expect(toList('keys', rows, {})).toBe('EXPIRES AT  NONE\ninfinity    -\n');
  });

  it('shows members in columns', () => {
    const rows = [
      { id: 1n, expiresAt, scopes: ['a:b', 'c:d'], details: { from: null, to: 7 } },
      { id: 12n, expiresAt: null, scopes: [], details: {} },
    ];
    expect(toList('keys', rows, {})).toBe(
      'ID  EXPIRES AT            SCOPES   DETAILS\n1   2026-11-21T12:00:00Z  a:b c:d  from=null to=7\n12  -                              -\n',
    );
    expect(toList('clients', [], {})).toBe('No clients.\n');
  });

  it('escapes control characters, which a terminal would interpret', () => {
    expect(toList('clients', [{ name: '\u001b[2J\n' }], {})).toBe('NAME\n\\x1b[2J\\x0a\n');
  });
});
