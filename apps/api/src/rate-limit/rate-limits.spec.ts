import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { RateLimits } from './rate-limits.js';

it('failed authentications from many networks take limited memory', async () => {
  const options = { rateLimit: 1, redisUrl: undefined, workers: 1, environment: 'test' };
  const limits = await RateLimits.create(options, pino({ level: 'silent' }));
  const { windows } = Reflect.get(limits, 'failures') as { windows: ReadonlyMap<string, unknown> };
  for (let i = 0; i < 40_000; i++) await limits.countFailure(`2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`);
  expect(windows.size).toBeLessThanOrEqual(16_384);
});
