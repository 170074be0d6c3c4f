import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { type ApiKey, isScope, issueApiKey, type NewApiKeyInput, notBeforeCreation, rotateApiKey, stateOf } from './api-key.js';
import { isClientName } from './client.js';

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
