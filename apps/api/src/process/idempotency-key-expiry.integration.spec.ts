import { randomBytes } from 'node:crypto';
import { createDataSource, deleteExpiredIdempotencyKeys, grantStatements } from '@animal-store/database';
import { waitFor } from '@animal-store/local-postgres/testing';
import { PetsModule } from '@animal-store/pets-http';
import { useDatabase } from '@animal-store/test-kit';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { IdempotencyKeyExpiry } from './idempotency-key-expiry.js';

const database = useDatabase(PetsModule.persistence);

beforeEach(() => {
  jest.useFakeTimers({
    now: Date.now(),
    doNotFake: [
      'Date',
      'hrtime',
      'nextTick',
      'performance',
      'queueMicrotask',
      'setImmediate',
      'setTimeout',
      'clearTimeout',
      'clearImmediate',
    ],
  });
});

afterEach(() => {
  jest.useRealTimers();
});

async function keys(): Promise<string[]> {
  const rows = await database.dataSource.query<{ key: string }[]>('SELECT key FROM pets.idempotency_keys ORDER BY key');
  return rows.map(({ key }) => key);
}

const insertKeys = () =>
  database.dataSource.query(
    `INSERT INTO pets.idempotency_keys (client_id, key, pet_id, request, created_at)
     SELECT 1, hours, 1, '{"name": "Rex", "categoryId": 1, "status": "sold"}', now() - make_interval(hours => hours::int)
     FROM unnest('{23,25}'::text[]) AS hours`,
  );

it('removes keys of all contexts after 24 hours, every minute, and survives an unavailable database', async () => {
  await insertKeys();
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const expiry = new IdempotencyKeyExpiry(database.dataSource);
  expiry.onApplicationBootstrap();
  await database.dataSource.query('ALTER TABLE pets.idempotency_keys RENAME TO away');
  jest.advanceTimersByTime(60_000);
  await waitFor(() => expect(warn).toHaveBeenCalledWith(expect.stringContaining('idempotency_keys')));
  await database.dataSource.query('ALTER TABLE pets.away RENAME TO idempotency_keys');
  expect(await keys()).toEqual(['23', '25']);
  jest.advanceTimersByTime(60_000);
  await waitFor(async () => expect(await keys()).toEqual(['23']));
  expiry.onApplicationShutdown();
});

it('needs no more privileges than the service', async () => {
  await database.empty();
  await insertKeys();
  const role = `expiry_${randomBytes(6).toString('hex')}`;
  await database.dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD 'of-tests-only'`);
  await database.dataSource.query(grantStatements([PetsModule.persistence], 'service', role).join('; '));
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'of-tests-only' });
  const restricted = createDataSource({ url: url.href, applicationName: 'spec', poolSize: 1, persistence: [PetsModule.persistence] });
  await restricted.initialize();
  expect(await deleteExpiredIdempotencyKeys(restricted)).toBe(1);
  await restricted.destroy();
  expect(await keys()).toEqual(['23']);
  await database.dataSource.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
});
