import { join } from 'node:path';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { Database, eventStatus } from '@animal-store/database';
import { createTestDatabase, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { contexts } from './contexts.js';

const PROGRAM = join(import.meta.dirname, '../dist/main.js');
const BOOKINGS = 300;
const CONCURRENCY = 10;
/** Includes the starts of the service on a busy machine. */
const TIMEOUT_MS = 120_000;

let database: TestDatabase;
let dataSource: Database;

const start = async () => {
  const env = { DATABASE_URL: database.url, ENVIRONMENT: 'test', RATE_LIMIT: '0' };
  const service = await ServiceProcess.start(env, { command: [process.execPath, PROGRAM] });
  await service.waitUntilReady();
  return service;
};

beforeAll(async () => {
  database = await createTestDatabase();
  const persistence = contexts.map((context) => context.persistence);
  dataSource = new Database({ url: database.url, applicationName: 'spec', poolSize: 1, persistence });
}, TIMEOUT_MS);
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

it(
  'a process that is killed while it books and cancels leaves as many visits per day as there are rows',
  async () => {
    const killed = await start();
    await dataSource.initialize();
    const access = await connectAccessUseCases(database.url);
    const scopes = ['pets:write', 'visits:write'];
    const { secret } = await access.manageApiKeys.create({ clientName: 'spec', environment: 'test', scopes });
    await access.close();
    const post = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) };
      const response = await fetch(killed.url + path, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
      return (await response.json()) as { id: number };
    };
    const { id: petId } = await post('/v1/pets', { name: 'Rex', categoryId: 1 });

    let next = 0;
    let booked = 0;
    let death: Promise<void> | undefined;
    const book = async () => {
      while (next < BOOKINGS) {
        const startsAt = new Date(Date.parse('2030-01-07T00:00:00Z') + 3_600_000 * next++).toISOString();
        const { id } = await post('/v1/visits', { petId, startsAt, durationMinutes: 30, reason: 'Vaccination' });
        if (++booked % 5 === 0) await post(`/v1/visits/${String(id)}/cancel`);
        if (booked > BOOKINGS / 2) death ??= killed.kill();
      }
    };
    await Promise.allSettled(Array.from({ length: CONCURRENCY }, book));
    await death;
    expect(booked).toBeLessThan(BOOKINGS);

    const restarted = await start();
    await waitFor(async () => {
      for (const { lag, parked } of await eventStatus(dataSource)) expect([lag, parked]).toEqual([0, 0]);
    });
    await restarted.stop();
    const counted = await dataSource.query<object[]>('SELECT day, visits FROM visits.days WHERE visits > 0 ORDER BY day');
    const stored = await dataSource.query<object[]>(
      `SELECT to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::int4 AS visits
       FROM visits.visits WHERE status <> 'cancelled' GROUP BY day ORDER BY day`,
    );
    expect(counted).toEqual(stored);
    expect(stored.length).toBeGreaterThan(3);
  },
  TIMEOUT_MS,
);
