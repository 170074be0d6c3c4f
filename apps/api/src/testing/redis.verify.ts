import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { Metrics } from '../observability/metrics.js';
import { pingRedis } from '../rate-limit/ping-redis.js';
import { type ClientLimit, RateLimits } from '../rate-limit/rate-limits.js';
import { createRedisClient } from '../rate-limit/redis-client.js';

// Part of `npm run verify -- redis`: the policies of contexts, which the product does not use yet.

const POLICY = { name: 'orders', requestsPerMinute: 300 };
const logger = pino({ level: 'silent' });

let redis: ChildProcess;
let url: string;
const servers: FastifyInstance[] = [];

beforeAll(async () => {
  const port = await findFreePort();
  url = `redis://127.0.0.1:${port}`;
  redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
  await once(redis, 'spawn').catch((error: unknown) => {
    throw new Error("there is no redis-server: install Debian's package redis-server (apt-get install redis-server)", { cause: error });
  });
});

afterAll(async () => {
  for (const server of servers) await server.close();
  if (redis.pid === undefined) return;
  const exit = once(redis, 'exit');
  redis.kill('SIGKILL');
  await exit;
});

/** Returns the limit of the policy in another machine, connected to Redis. */
async function connectMachine(): Promise<ClientLimit> {
  const metrics = new Metrics();
  const limits = await RateLimits.create({ rateLimit: 6_000, redisUrl: url, workers: 1, environment: 'test' }, logger, metrics);
  const server = fastify();
  limits.addRedisHooks(server);
  servers.push(server);
  await server.ready();
  await waitFor(async () => expect(await metrics.registry.metrics()).toContain('\nredis_connected 1\n'));
  return limits.limitOfPolicy(POLICY) as ClientLimit;
}

it('two machines count the requests of a client for a policy together, separately from the default', async () => {
  const machines = [await connectMachine(), await connectMachine()] as const;
  let admitted = 0;
  for (let i = 0; i < 2 * POLICY.requestsPerMinute; i++) {
    const quota = await machines[i % 2 === 0 ? 0 : 1].take(7n);
    if (!quota.isExceeded) admitted++;
  }
  expect(admitted).toBeGreaterThanOrEqual(POLICY.requestsPerMinute);
  expect(admitted).toBeLessThanOrEqual(POLICY.requestsPerMinute * 1.1);
  const client = createRedisClient(url, logger);
  await client.connect();
  expect(await client.keys('*')).toEqual(['animal-store:test:policies:orders:7']);
  client.destroy();
});

it('pingRedis resolves if Redis responds, and rejects if it requires another password', async () => {
  await pingRedis(url);
  const client = createRedisClient(url, logger);
  await client.connect();
  await client.configSet('requirepass', 'of-tests-only');
  await pingRedis(url.replace('//', '//:of-tests-only@'));
  await expect(pingRedis(url.replace('//', '//:wrong@'))).rejects.toThrow(/^WRONGPASS/);
  await expect(pingRedis(url)).rejects.toThrow(/^NOAUTH/);
  await client.configSet('requirepass', '');
  client.destroy();
});
