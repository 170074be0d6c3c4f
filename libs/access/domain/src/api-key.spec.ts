import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  crc32,
  environmentOf,
  generateApiKeySecret,
  isApiKeySecret,
  isKeyEnvironment,
  type KeyEnvironment,
  prefixOf,
  redactKeys,
  withChecksum,
} from './api-key-secret.js';
import { type ApiKey, isScope, issueApiKey, type NewApiKeyInput, notBeforeCreation, rotateApiKey, stateOf } from './api-key.js';
import { isClientName } from './client.js';
import { escapeControlCharacters, sanitiseForTerminal } from './escape-control-characters.js';

const HOUR = 3_600_000;
const noon = new Date('2026-11-21T12:00:00Z');
const after = (ms: number) => new Date(noon.getTime() + ms);
const unreadable = new Date(NaN);

const input: NewApiKeyInput = {
  clientName: 'Acme Pets',
  environment: 'local',
  scopes: ['pets:read', 'pets:write'],
  createdAt: noon,
  expiresAt: null,
};
const key: ApiKey = {
  id: 9n,
  client: { id: 7n, name: 'Acme Pets', rateLimit: null, disabledAt: null },
  prefix: 'ast_local_aB3dE6',
  scopes: ['pets:read'],
  createdAt: noon,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};

describe('issuing a key', () => {
  it.each([
    [{ clientName: ' ' }, /^client name must [^;]+$/],
    [{ environment: 'Local' }, /^environment must [^;]+$/],
    ...[[], ['pets:read', 'pets:read'], ['pets']].map((scopes) => [{ scopes }, /^scopes must [^;]+$/] as const),
    ...[noon, unreadable].map((expiresAt) => [{ expiresAt }, /^expiry must [^;]+$/] as const),
    [
      { clientName: '', environment: '', scopes: [''], expiresAt: after(-1) },
      /^client name must [^;]+; environment must [^;]+; scopes must [^;]+; expiry must [^;]+$/,
    ],
  ])('rejects %o, naming each field', (wrong, message) => {
    const issue = () => issueApiKey({ ...input, ...wrong });
    expect(issue).toThrow(DomainError);
    expect(issue).toThrow(message);
    expect(issue).toThrow(expect.objectContaining({ code: 'invalid_request', kind: 'invalid' }));
  });
});

describe('the state of a key', () => {
  it('is active until its expiry and then expired', () => {
    expect(stateOf({ ...key, expiresAt: after(10) }, after(9))).toBe('active');
    expect(stateOf({ ...key, expiresAt: after(10) }, after(10))).toBe('expired');
    expect(stateOf(key, new Date(8.64e15))).toBe('active');
  });

  it('is disabled while its client is disabled, unless it is expired or revoked', () => {
    const client = { ...key.client, disabledAt: noon };
    const states = [{}, { expiresAt: noon }, { revokedAt: noon }].map((end) => stateOf({ ...key, client, ...end }, noon));
    expect(states).toEqual(['disabled', 'expired', 'revoked']);
  });

  it.each<[string, Partial<ApiKey>, string]>([
    ['expiry', { expiresAt: unreadable }, 'expired'],
    ['creation', { createdAt: unreadable }, 'expired'],
    ['last use', { lastUsedAt: unreadable }, 'expired'],
    ['revocation', { revokedAt: unreadable }, 'revoked'],
    ['disabled client', { client: { ...key.client, disabledAt: unreadable } }, 'disabled'],
  ])('with a date of its %s that cannot be read is not active', (_what, dates, state) => {
    expect(stateOf({ ...key, ...dates }, noon)).toBe(state);
  });

  it('is revoked immediately, whatever the clocks show', () => {
    expect(stateOf({ ...key, revokedAt: after(HOUR) }, noon)).toBe('revoked');
    expect(notBeforeCreation(key, after(-HOUR))).toEqual(noon);
    expect(notBeforeCreation({ ...key, createdAt: unreadable }, noon)).toEqual(noon);
  });
});

describe('rotation', () => {
  it('ends the old key after the overlap and issues one with the same scopes and environment', () => {
    const disabled = { ...key, client: { ...key.client, disabledAt: noon } };
    const { expiresAt, successor } = rotateApiKey(disabled, after(HOUR), 24 * HOUR);
    expect(expiresAt).toEqual(after(25 * HOUR));
    expect(successor).toMatchObject({ clientName: 'Acme Pets', scopes: ['pets:read'], createdAt: after(HOUR), expiresAt: null });
    expect(successor.secret).toMatch(/^ast_local_/);
  });

  it('never extends the lifetime of the old key, and gives the new one the same lifetime', () => {
    const { expiresAt, successor } = rotateApiKey({ ...key, expiresAt: after(3 * HOUR) }, after(2 * HOUR), 24 * HOUR);
    expect([expiresAt, successor.expiresAt]).toEqual([after(3 * HOUR), after(5 * HOUR)]);
    expect(rotateApiKey({ ...key, expiresAt: after(9 * HOUR) }, after(2 * HOUR), HOUR).expiresAt).toEqual(after(3 * HOUR));
  });

  it('may end the old key immediately, but not before its creation', () => {
    expect(rotateApiKey(key, after(-HOUR), 0).expiresAt).toEqual(noon);
  });

  it.each([-1, NaN, Infinity])('rejects an overlap of %s', (overlap) => {
    expect(() => rotateApiKey(key, noon, overlap)).toThrow(/^overlap must/);
  });

  it.each([
    ['expired', { expiresAt: after(1) }],
    ['expired', { createdAt: unreadable }],
    ['revoked', { revokedAt: noon }],
  ])('rejects a key that is %s', (state, dates) => {
    expect(() => rotateApiKey({ ...key, ...dates }, after(1), HOUR)).toThrow(
      expect.objectContaining({ code: 'api_key_not_active', message: `The API key is ${state}.` }),
    );
  });
});

describe('the name of a client', () => {
  it.each(['a', 'Acme Pets, Inc. (EU)', 'Zoë 東京 🐕', 'x'.repeat(100), '🐕'.repeat(100)])('may be %j', (name) =>
    expect(isClientName(name)).toBe(true),
  );

  it.each([
    ...['', ' ', ' a', 'a ', 'a  b', 'a\tb', 'a\nb', 'a\0', '\u00a0', 'a\u200bb', 'a\u202eb', '\ufeffa'],
    ...['e\u0301', '\ud800', 'x'.repeat(101), '🐕'.repeat(101)],
  ])('is not %j', (name) => expect(isClientName(name)).toBe(false));
});

describe('scopes', () => {
  it.each(['pets:read', 'store-orders:read-all', `pets:${'r'.repeat(95)}`])('may be %j', (scope) => expect(isScope(scope)).toBe(true));
  it.each(['', 'pets', 'pets:', ':read', 'Pets:read', 'pets:read:all', 'pets read', '-pets:read', 'pets:read ', `pets:${'r'.repeat(96)}`])(
    'are not %j',
    (scope) => expect(isScope(scope)).toBe(false),
  );
});

const environment = fc.stringMatching(/^[a-z][a-z0-9]{0,19}$/) as fc.Arbitrary<KeyEnvironment>;

describe('an API key', () => {
  it('has the published format, and its prefix contains its environment', () => {
    fc.assert(
      fc.property(environment, (name) => {
        const made = generateApiKeySecret(name);
        expect(made).toMatch(new RegExp(`^ast_${name}_[0-9A-Za-z]{49}$`));
        expect(isApiKeySecret(made)).toBe(true);
        expect(prefixOf(made)).toBe(made.slice(0, `ast_${name}_`.length + 6));
        expect(environmentOf(prefixOf(made))).toBe(name);
      }),
    );
  });

  it('is rejected with text before or after it, even if the checksum matches', () => {
    const unchecked = generateApiKeySecret('local' as KeyEnvironment).slice(0, -6);
    expect(isApiKeySecret(withChecksum(unchecked))).toBe(true);
    for (const wrong of ['', `x${unchecked}`, `${unchecked}0`, unchecked.slice(0, -1)])
      expect(isApiKeySecret(withChecksum(wrong))).toBe(false);
    expect(isApiKeySecret(`${withChecksum(unchecked)}\n`)).toBe(false);
  });

  it('is rejected if any character is changed', () => {
    const made = generateApiKeySecret('local' as KeyEnvironment);
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ \0äĀ🐕';
    for (let i = 0; i < made.length; i++) {
      for (const other of alphabet) {
        if (other !== made[i]) expect(isApiKeySecret(made.slice(0, i) + other + made.slice(i + 1))).toBe(false);
      }
    }
  });

  it('is different each time', () => {
    const made = Array.from({ length: 1000 }, () => generateApiKeySecret('local' as KeyEnvironment));
    // Every position of the random part after the first has many values, so none is constant.
    for (let i = 'ast_local_'.length + 1; i < 'ast_local_'.length + 43; i++) {
      expect(new Set(made.map((text) => text[i])).size).toBeGreaterThan(50);
    }
  });
});

// The check value of CRC-32/ISO-HDLC and two other published examples.
it.each([
  ['', 0],
  ['123456789', 0xcbf43926],
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the CRC-32 of %j', (text, checksum) => expect(crc32(text)).toBe(checksum));

describe('the environment of a key', () => {
  it.each(['local', 'production', 'a', 'eu2', 'a'.repeat(20)])('may be %j', (name) => expect(isKeyEnvironment(name)).toBe(true));
  it.each(['', '2eu', 'Local', 'a_b', 'a-b', 'ä', ' a', 'a\n', 'a'.repeat(21)])('is not %j', (name) =>
    expect(isKeyEnvironment(name)).toBe(false),
  );
});

describe('redactKeys', () => {
  const key = generateApiKeySecret('test' as KeyEnvironment);
  const redacted = `${prefixOf(key)}…`;

  it('truncates a key to its prefix', () => {
    expect(redactKeys(`Bearer ${key}, "${key}"`)).toBe(`Bearer ${redacted}, "${redacted}"`);
    expect(redactKeys(`a broken key ${key.slice(0, -1)}`)).toBe(`a broken key ${redacted}`);
    expect(redactKeys(`pasted twice ${key}${key}`)).toBe(`pasted twice ${redacted}${redacted}`);
  });

  it.each(['', 'key=', '"', '/', '\\n', '\\u0041', '%3D', 'é'])('truncates a broken key after %j', (before) => {
    expect(redactKeys(`${before}${key.slice(0, -1)}`)).toBe(`${before}${redacted}`);
  });

  it.each(['Bearer', 'KEY_', '1', 'last_broadcast_'])('truncates a whole key after %j', (before) => {
    expect(redactKeys(`${before}${key} ${before}${key}x`)).toBe(`${before}${redacted} ${before}${redacted}x`);
  });

  it.each([
    ...['', 'ast_', prefixOf(key), redacted, 'last_name_of_somebody', 'last_seen_timestamp', 'breakfast_menu_1234567'],
    ...['last_seen_timestamp=1,fast_menu_1234567', `last_commit_${'0123456789abcdef'.repeat(4)}`],
  ])('leaves %j unchanged', (text) => expect(redactKeys(text)).toBe(text));
});

it('escapes only C0, DEL and C1, and for a terminal keeps the lines of a text and redacts its keys', () => {
  const characters = Array.from({ length: 0x101 }, (_, code) => String.fromCharCode(code));
  const escaped = characters.filter((character) => escapeControlCharacters(character) !== character);
  expect(escaped.join('')).toMatch(/^\p{Cc}{65}$/u);
  expect(escapeControlCharacters('a\u001b[31mb\u009b2J\nRex 🐕')).toBe(String.raw`a\x1b[31mb\x9b2J\x0aRex 🐕`);
  const key = generateApiKeySecret('test' as KeyEnvironment);
  expect(sanitiseForTerminal(`${key}\r\n  at \u001b[2J`)).toBe(`${prefixOf(key)}…${String.raw`\x0d`}\n  at ${String.raw`\x1b[2J`}`);
});
