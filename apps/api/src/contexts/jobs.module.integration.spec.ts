import { randomBytes } from 'node:crypto';
import { Database, DatabaseConnection, ExpireIdempotencyKeys, grantStatements, runJob } from '@animal-store/database';
import { type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { PetsModule } from '@animal-store/pets-http';
import { createMigratedDatabase, describeMigrations } from '@animal-store/test-kit';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { ModuleRef } from '@nestjs/core';
import { pino } from 'pino';
import { Metrics } from '../observability/metrics.js';
import { Draining } from '../http/connection.js';
import { JobRunner } from './job-runner.js';
import { JobsModule } from './jobs.module.js';

describeMigrations(JobsModule.persistence);

const persistence = [PetsModule.persistence, JobsModule.persistence];
let database: TestDatabase;
let dataSource: Database;

beforeAll(async () => {
  database = await createMigratedDatabase(persistence);
  dataSource = await new Database({ url: database.url, applicationName: 'spec', poolSize: 2, persistence }).initialize();
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

beforeEach(async () => {
  await dataSource.query('TRUNCATE pets.idempotency_keys, jobs.runs');
  await dataSource.query(
    `INSERT INTO pets.idempotency_keys (client_id, key, pet_id, request, created_at)
     SELECT 1, hours, 1, '{"name": "Rex", "categoryId": 1, "status": "sold"}', now() - make_interval(hours => hours::int)
     FROM unnest('{23,25}'::text[]) AS hours`,
  );
});

async function keys(): Promise<string[]> {
  const rows = await dataSource.query<{ key: string }[]>('SELECT key FROM pets.idempotency_keys ORDER BY key');
  return rows.map(({ key }) => key);
}

it('removes keys of all contexts after 24 hours, every minute, also after failures', async () => {
  expect(JobsModule.jobs).toEqual([{ name: 'idempotency-keys-expire', every: 60_000, useCase: ExpireIdempotencyKeys }]);
  const connection = new DatabaseConnection(dataSource);
  await connection.open();
  const moduleRef = { get: () => new ExpireIdempotencyKeys(dataSource) } as unknown as ModuleRef;
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push(line) });
  const jobs = JobsModule.jobs.map((job) => ({ ...job, every: 50 }));
  const runner = new JobRunner(jobs, moduleRef, dataSource, connection, new Draining(), new Metrics(), logger);
  await dataSource.query('ALTER TABLE pets.idempotency_keys RENAME TO away');
  runner.onApplicationBootstrap();
  await waitFor(() => expect(lines.join('')).toContain('job failed'));
  await dataSource.query('ALTER TABLE pets.away RENAME TO idempotency_keys');
  await waitFor(async () => expect(await keys()).toEqual(['23']));
  await runner.beforeApplicationShutdown();
});

it('needs no more privileges than the service', async () => {
  const role = `expiry_${randomBytes(6).toString('hex')}`;
  await dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of-tests-only'`);
  await dataSource.query(grantStatements(persistence, 'service', role).join('; '));
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'of-tests-only' });
  const restricted = new Database({ url: url.href, applicationName: 'spec', poolSize: 1, persistence });
  await restricted.initialize();
  let deleted = 0;
  await runJob(restricted, { name: 'spec', every: 1 }, async () => {
    deleted = await new ExpireIdempotencyKeys(restricted).execute();
    return true;
  });
  await restricted.destroy();
  expect(deleted).toBe(1);
  expect(await keys()).toEqual(['23']);
  await dataSource.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});
