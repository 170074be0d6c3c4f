import { DomainError } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import { ApiKey, type ApiKeyRecord, isScope, NewApiKey, type NewApiKeyInput } from './api-key.js';
import { isApiKeySecret, prefixOf } from './api-key-secret.js';
import { isClientName } from './client.js';

const HOUR = 3_600_000;
const noon = new Date('2026-11-21T12:00:00Z');
const after = (ms: number) => new Date(noon.getTime() + ms);
const unreadable = new Date(NaN);

const input: NewApiKeyInput = { clientName: 'Acme Pets', environment: 'local', scopes: ['pets:read', 'pets:write'], createdAt: noon };
const record: ApiKeyRecord = {
  id: 9n,
  client: { id: 7n, name: 'Acme Pets' },
  prefix: 'ast_local_aB3dE6',
  scopes: ['pets:read'],
  createdAt: noon,
};

describe('NewApiKey.issue', () => {
  it('creates a secret', () => {
    const key = NewApiKey.issue({ ...input, expiresAt: after(1) });
    const { secret } = key;
    expect(isApiKeySecret(secret)).toBe(true);
    expect(key).toEqual({ ...input, environment: undefined, expiresAt: after(1), secret, prefix: prefixOf(secret) });
  });

  it.each([
    [{ clientName: ' ' }, /^client name must [^;]+$/],
    [{ environment: 'Local' }, /^environment must [^;]+$/],
    [{ scopes: [] }, /^scopes must [^;]+$/],
    [{ scopes: ['pets:read', 'pets:read'] }, /^scopes must [^;]+$/],
    [{ scopes: ['pets'] }, /^scopes must [^;]+$/],
    [{ expiresAt: noon }, /^expiry must [^;]+$/],
    ...[-1, 1.5, 1_000_000_001, NaN].map((rateLimit) => [{ rateLimit }, /^rate limit must [^;]+$/] as const),
    [{ expiresAt: new Date(NaN) }, /^expiry must [^;]+$/],
    [
      { clientName: '', environment: '', scopes: [''], expiresAt: after(-1) },
      /^client name must [^;]+; environment must [^;]+; scopes must [^;]+; expiry must [^;]+$/,
    ],
  ])('rejects %o, naming each field', (wrong, message) => {
    const issue = () => NewApiKey.issue({ ...input, ...wrong });
    expect(issue).toThrow(DomainError);
    expect(issue).toThrow(message);
    expect(issue).toThrow(expect.objectContaining({ code: 'invalid_request', kind: 'invalid' }));
  });

  it.each([0, 1_000_000_000])('accepts the rate limit %d', (rateLimit) => {
    expect(NewApiKey.issue({ ...input, rateLimit }).rateLimit).toBe(rateLimit);
  });
});

describe('the state of a key', () => {
  it('is active until its expiry and then expired', () => {
    const key = ApiKey.rehydrate({ ...record, expiresAt: after(10) });
    expect(key.stateAt(after(9))).toBe('active');
    expect(key.stateAt(after(10))).toBe('expired');
    expect(ApiKey.rehydrate(record).stateAt(new Date(8.64e15))).toBe('active');
  });

  it('is disabled while its client is disabled, unless it is expired or revoked', () => {
    const client = { ...record.client, disabledAt: noon };
    const states = [{}, { expiresAt: noon }, { revokedAt: noon }].map((end) => {
      const key = ApiKey.rehydrate({ ...record, client, ...end });
      return [key.stateAt(noon), key.hasEndedAt(noon)];
    });
    expect(states).toEqual([
      ['disabled', false],
      ['expired', true],
      ['revoked', true],
    ]);
    expect(ApiKey.rehydrate(record).hasEndedAt(noon)).toBe(false);
  });

  it.each<[string, Partial<ApiKeyRecord>, string]>([
    ['expiry', { expiresAt: unreadable }, 'expired'],
    ['creation', { createdAt: unreadable }, 'expired'],
    ['last use', { lastUsedAt: unreadable }, 'expired'],
    ['revocation', { revokedAt: unreadable }, 'revoked'],
    ['disabled client', { client: { ...record.client, disabledAt: unreadable } }, 'disabled'],
  ])('with a date of its %s that cannot be read is not active, and it can be revoked', (_what, dates, state) => {
    const key = ApiKey.rehydrate({ ...record, ...dates });
    expect(key.stateAt(noon)).toBe(state);
    expect(key.revoke(noon).stateAt(noon)).toBe('revoked');
    if (dates.revokedAt === undefined) expect(key.revoke(noon).revokedAt).toEqual(noon);
    if (state !== 'disabled') expect(() => key.rotate(noon, 0)).toThrow(`The API key is ${state}.`);
  });

  it('is revoked immediately and permanently, whatever the clocks show', () => {
    const revoked = ApiKey.rehydrate(record).revoke(after(HOUR));
    expect(revoked.revokedAt).toEqual(after(HOUR));
    expect(revoked.stateAt(noon)).toBe('revoked');
    expect(revoked.revoke(after(2 * HOUR)).revokedAt).toEqual(after(HOUR));
    expect(ApiKey.rehydrate(record).revoke(after(-HOUR)).revokedAt).toEqual(noon);
  });
});

describe('rotation', () => {
  it('ends the old key after the overlap and issues one with the same scopes and environment', () => {
    const old = ApiKey.rehydrate(record);
    const { retired, successor } = old.rotate(after(HOUR), 24 * HOUR);
    expect(retired).toEqual({ ...old, expiresAt: after(25 * HOUR) });
    expect(successor).toMatchObject({ clientName: 'Acme Pets', scopes: ['pets:read'], createdAt: after(HOUR), expiresAt: undefined });
    expect(successor.secret).toMatch(/^ast_local_/);
  });

  it('never extends the lifetime of the old key, and gives the new one the same lifetime', () => {
    const { retired, successor } = ApiKey.rehydrate({ ...record, expiresAt: after(3 * HOUR) }).rotate(after(2 * HOUR), 24 * HOUR);
    expect(retired.expiresAt).toEqual(after(3 * HOUR));
    expect(successor.expiresAt).toEqual(after(5 * HOUR));
  });

  it('ends the old key with the overlap if it would expire later', () => {
    const { retired } = ApiKey.rehydrate({ ...record, expiresAt: after(9 * HOUR) }).rotate(after(2 * HOUR), HOUR);
    expect(retired.expiresAt).toEqual(after(3 * HOUR));
  });

  it('is possible while the client is disabled', () => {
    const disabled = ApiKey.rehydrate({ ...record, client: { ...record.client, disabledAt: noon } });
    expect(disabled.rotate(after(HOUR), HOUR).retired.expiresAt).toEqual(after(2 * HOUR));
  });

  it('may end the old key immediately, but not before its creation', () => {
    const { retired } = ApiKey.rehydrate(record).rotate(after(-HOUR), 0);
    expect(retired.expiresAt).toEqual(noon);
  });

  it.each([-1, NaN, Infinity])('rejects an overlap of %s', (overlap) => {
    expect(() => ApiKey.rehydrate(record).rotate(noon, overlap)).toThrow(/^overlap must/);
  });

  it.each([
    ['expired', { expiresAt: after(1) }],
    ['revoked', { revokedAt: noon }],
  ])('rejects a key that is %s', (state, end) => {
    expect(() => ApiKey.rehydrate({ ...record, ...end }).rotate(after(1), HOUR)).toThrow(
      expect.objectContaining({ code: 'api_key_not_active', message: `The API key is ${state}.` }),
    );
  });
});

describe('the name of a client', () => {
  it.each(['a', 'Acme Pets, Inc. (EU)', 'Zoë 東京 🐕', 'x'.repeat(100), '🐕'.repeat(100)])('may be %j', (name) =>
    expect(isClientName(name)).toBe(true),
  );

  it.each([
    '',
    ' ',
    ' a',
    'a ',
    'a\tb',
    'a\nb',
    'a\0',
    '\u00a0',
    'a\u200bb',
    'a\u202eb',
    'a  b',
    'e\u0301',
    '\ufeffa',
    '\ud800',
    'x'.repeat(101),
    '🐕'.repeat(101),
  ])('is not %j', (name) => expect(isClientName(name)).toBe(false));

  it('contains no control character, no white space except the space, and nothing that has no shape', () => {
    const hidden = Array.from({ length: 0xe1000 }, (_, codePoint) => String.fromCodePoint(codePoint)).filter(
      (character) => character !== ' ' && /[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(character),
    );
    expect(hidden.length).toBeGreaterThan(80);
    expect(hidden.filter((character) => isClientName(`a${character}b`))).toEqual([]);
  });
});

describe('scopes', () => {
  it.each(['pets:read', 'pets:write', 'store-orders:read-all', `pets:${'r'.repeat(95)}`])('may be %j', (scope) =>
    expect(isScope(scope)).toBe(true),
  );
  it.each(['', 'pets', 'pets:', ':read', 'Pets:read', 'pets:read:all', 'pets read', '-pets:read', 'pets:read ', `pets:${'r'.repeat(96)}`])(
    'are not %j',
    (scope) => expect(isScope(scope)).toBe(false),
  );
});
