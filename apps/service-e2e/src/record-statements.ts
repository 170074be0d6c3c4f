/**
 * `npx nx record-statements service-e2e`: writes `docs/releases/<version>/statements.json`, with the SQL statements of the contexts. A later
 * release runs them on its own schema, as the previous release does during an upgrade or after a rollback.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, runAnimalStore, Service } from '@animal-store/api-e2e/support/service';
import { createTestDatabase, query, startThrowAwayPostgres, waitFor } from '@animal-store/local-postgres/testing';
import { StatementRecorder } from './support/statement-recorder.js';

const ROOT = join(import.meta.dirname, '../../..');
const CREATIONS = ['first', 'second', 'third'] as const;

const postgres = await startThrowAwayPostgres();
process.env['TEST_POSTGRES_URL'] = postgres.url;
const database = await createTestDatabase();
await runAnimalStore(database.url, 'migrate', 'up');
const recorder = await StatementRecorder.start(database.url);
const environment: Environment = { MIGRATION_DATABASE_URL: database.url };

await command('create a key', 'keys', 'create', '--client', 'client', '--json');
const { key } = JSON.parse(await command('create the key of the service', 'keys', 'create', '--client', 'service', '--json')) as {
  key: string;
};
await command('rotate a key', 'keys', 'rotate', '1');
await command('revoke a key', 'keys', 'revoke', '1');
await command('list keys', 'keys', 'list');
await command('set a rate limit', 'clients', 'set-rate-limit', 'client', '100');
await command('disable a client', 'clients', 'disable', 'client');
await command('enable a client', 'clients', 'enable', 'client');
await command('list clients', 'clients', 'list');
await command('read the audit trail', 'keys', 'audit');

let service = await Service.start(recorder.url, environment);
await request('authenticate', '/v1/pets/1');
await waitFor(async () => {
  const used = await query(database.url, 'SELECT FROM access.api_keys WHERE last_used_at IS NOT NULL');
  if (used.length === 0) throw new Error('the use of the key is not recorded');
});
for (const status of ['available', 'pending', 'sold']) await request('create a pet', '/v1/pets', { name: 'Zoë 🐕', categoryId: 7, status });
// Those that arrive while the first one runs share a statement.
await Promise.all(CREATIONS.map((name) => request('create pets', '/v1/pets', { name, categoryId: -7 })));
for (const repetition of ['create pets once', 'create the same pets again'])
  await Promise.all(CREATIONS.map((name) => request(repetition, '/v1/pets', { name, categoryId: 7 }, name)));
await request('find a pet', '/v1/pets/1');
await request('find no pet', '/v1/pets/1000');
await Promise.all([1, 2, 3].map((id) => request('find pets', `/v1/pets/${id}`)));
await request('list pets', '/v1/pets?limit=2');
await request('list a pet by its id', '/v1/pets?id=1');
for (const status of ['available', 'pending', 'sold']) await request(`list ${status} pets`, `/v1/pets?status=${status}`);
await service.stop();
if (!recorder.statements.some(({ name, values }) => name.startsWith('create pets,') && values[0]?.includes(',')))
  throw new Error('concurrent creations did not share a statement: run it again');

recorder.step = 'make idempotency keys expire';
await query(recorder.url, `UPDATE pets.idempotency_keys SET created_at = created_at - interval '2 days'`);
await query(database.url, 'DELETE FROM jobs.runs');
recorder.step = 'delete expired idempotency keys';
service = await Service.start(recorder.url, environment);
await waitFor(async () => {
  const keys = await query(database.url, 'SELECT FROM pets.idempotency_keys');
  if (keys.length > 0) throw new Error('expired idempotency keys are not deleted');
});
await request('create a pet with an expired key', '/v1/pets', { name: 'first', categoryId: 7 }, 'first');
await service.stop();

recorder.stop();
await database.drop();
await postgres.stop();

const { version } = JSON.parse(readFileSync(join(ROOT, 'apps/api/package.json'), 'utf8')) as { version: string };
const folder = join(ROOT, 'docs/releases', version);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'statements.json'), `${JSON.stringify(recorder.statements, undefined, 2)}\n`);

async function command(step: string, ...args: string[]): Promise<string> {
  recorder.step = step;
  return runAnimalStore(recorder.url, ...args);
}

async function request(step: string, path: string, body?: object, idempotencyKey?: string): Promise<void> {
  recorder.step = step;
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(body && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
  };
  const response = await fetch(new URL(path, service.url), { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  await response.arrayBuffer();
}
