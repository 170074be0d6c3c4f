import type { AuthenticateApiKey } from '@animal-store/access-application';
import { INVALID_API_KEY, MISSING_API_KEY } from '@animal-store/access-domain';
import type { DatabaseConnection } from '@animal-store/database';
import { type Principal, Public } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { RateLimits } from '../rate-limit/rate-limits.js';
import { guardContext } from '../testing/guard-context.js';
import { AuthenticationGuard } from './authentication.guard.js';

class Pets {
  @Public()
  open() {
    return undefined;
  }

  closed() {
    return undefined;
  }
}

const principal = { clientId: 1n, keyId: 2n } as Principal;
const limits = await RateLimits.create({ rateLimit: 1, redisUrl: undefined, workers: 1, environment: 'test' }, pino({ level: 'silent' }));
const guardWith = (execute: (key: string) => Principal | Promise<Principal>) =>
  new AuthenticationGuard({ execute } as AuthenticateApiKey, limits, { isOpen: true } as DatabaseConnection);
const guardWithoutClients = guardWith(() => {
  throw new DomainError(INVALID_API_KEY);
});
const withKey = (key: string) => ({ ip: '192.0.2.1', headers: { authorization: `Bearer ${key}` } });

it('identifies the client of a cached key synchronously', () => {
  const { context, request } = guardContext(Pets, 'closed', withKey('known'));
  expect(guardWith(() => principal).canActivate(context)).toBe(true);
  expect(request).toMatchObject({ principal, operation: 'closed' });
});

it('waits for a key that is not cached', async () => {
  const { context, request } = guardContext(Pets, 'closed', withKey('new'));
  await expect(guardWith(() => Promise.resolve(principal)).canActivate(context)).resolves.toBe(true);
  expect(request.principal).toBe(principal);
});

it('requires no key on a public route', () => {
  const { context, request } = guardContext(Pets, 'open');
  expect(guardWithoutClients.canActivate(context)).toBe(true);
  expect(request.principal).toBeUndefined();
});

it.each([
  ['a missing key', {}, MISSING_API_KEY.code, 'Bearer realm="animal-store"'],
  ['an unknown key', { authorization: 'Bearer wrong' }, INVALID_API_KEY.code, 'Bearer realm="animal-store", error="invalid_token"'],
])('rejects %s', async (_what, requestHeaders, code, challenge) => {
  const { context, headers } = guardContext(Pets, 'closed', { ip: '192.0.2.1', headers: requestHeaders });
  await expect((async () => guardWithoutClients.canActivate(context))()).rejects.toMatchObject({ code });
  expect(headers['www-authenticate']).toBe(challenge);
});

it('rethrows other errors, without a challenge', async () => {
  const { context, headers } = guardContext(Pets, 'closed', withKey('any'));
  const down = new Error('down');
  await expect(guardWith(() => Promise.reject(down)).canActivate(context)).rejects.toBe(down);
  expect(headers).toEqual({});
});
