import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { expect, it, jest } from '@jest/globals';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const sleep = jest.fn(() => Promise.resolve());
jest.unstable_mockModule('node:timers/promises', () => ({ setTimeout: sleep }));
const { createDataSource } = await import('./data-source.js');
const { migrateUp } = await import('./migrations.js');

const lockTimeouts: unknown[] = [];

class LockTable1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    lockTimeouts.push(...((await queryRunner.query('SHOW lock_timeout')) as unknown[]));
    // The error of a lock timeout.
    await queryRunner.query("DO $$ BEGIN RAISE EXCEPTION 'no lock' USING ERRCODE = '55P03'; END $$");
  }

  async down(): Promise<void> {}
}

it('a migration waits 2 seconds for a lock and is tried 30 times at intervals of one second', async () => {
  // TypeORM logs each failure.
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const database = await createTestDatabase();
  const persistence = [{ schema: 'public', entities: [], migrations: [LockTable1763683200000] }];
  const dataSource = await createDataSource({ url: database.url, applicationName: 'spec', poolSize: 1, persistence }).initialize();
  await expect(migrateUp(dataSource)).rejects.toMatchObject({ code: '55P03' });
  expect(lockTimeouts).toEqual(Array.from({ length: 30 }, () => ({ lock_timeout: '2s' })));
  expect(sleep.mock.calls).toEqual(Array.from({ length: 29 }, () => [1_000]));
  await dataSource.destroy();
  await database.drop();
});
