import type { DatabaseConnection } from '@animal-store/database';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Draining } from './draining.js';
import { HealthController } from './health.controller.js';

afterEach(() => {
  jest.useRealTimers();
});

it('is not ready after 2 s without a response of the database, and ready with its next response', async () => {
  jest.useFakeTimers();
  const responses: Promise<{ rows: [] }>[] = [new Promise(() => undefined), Promise.resolve({ rows: [] })];
  const query = jest.fn(() => responses.shift());
  const dataSource = { migrations: [], driver: { master: { query } } } as unknown as DataSource;
  const health = new HealthController(dataSource, { isOpen: true } as DatabaseConnection, new Draining());
  const probes = Promise.allSettled([health.ready(), health.ready()]);
  await jest.advanceTimersByTimeAsync(1_999);
  const late = Promise.allSettled([health.ready()]);
  expect(query).toHaveBeenCalledTimes(1);
  await jest.advanceTimersByTimeAsync(1);
  const reason: unknown = expect.objectContaining({ code: 'service_unavailable', message: 'The database does not respond.' });
  const rejected = { status: 'rejected', reason };
  expect([...(await probes), ...(await late)]).toEqual([rejected, rejected, rejected]);
  expect(await health.ready()).toEqual({ status: 'ok' });
  expect(jest.getTimerCount()).toBe(0);
});
