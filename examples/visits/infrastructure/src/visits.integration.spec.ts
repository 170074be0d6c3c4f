import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describeVisitsSuite } from '@animal-store/visits-testing';
import { describe, expect, it } from '@jest/globals';
import { TypeOrmTreatmentRepository } from './typeorm-treatment-repository.js';
import { TypeOrmVisitReader } from './typeorm-visit-reader.js';
import { TypeOrmVisitRepository } from './typeorm-visit-repository.js';
import { visitsPersistence } from './visits-persistence.js';
import { TypeOrmVisitDays } from './visits-subscriptions.js';

const database = useDatabase(visitsPersistence);

describeMigrations(visitsPersistence);

describeVisitsSuite('PostgreSQL', async () => {
  await database.empty();
  const { dataSource } = database;
  return {
    repository: new TypeOrmVisitRepository(dataSource),
    reader: new TypeOrmVisitReader(dataSource),
    treatments: new TypeOrmTreatmentRepository(dataSource),
  };
});

it('counts visits per day', async () => {
  await database.empty();
  const days = new TypeOrmVisitDays(database.dataSource.manager);
  for (const visits of [1, 1, -1, 1]) await days.add('2030-01-07', visits);
  expect(await database.dataSource.query('SELECT * FROM visits.days')).toEqual([{ day: '2030-01-07', visits: 2 }]);
});

describe('the table of visits', () => {
  it.each([
    ["1, '2030-01-07Z', 4, 'booked', 'x', NULL", 'visits_duration_minutes_check'],
    ["1, '2030-01-07Z', 481, 'booked', 'x', NULL", 'visits_duration_minutes_check'],
    ["1, '2030-01-07Z', 30, 'lost', 'x', NULL", 'visits_status_check'],
    ["1, '2030-01-07Z', 30, 'booked', '', NULL", 'visits_reason_check'],
    ["1, '2030-01-07Z', 30, 'booked', 'x', ''", 'visits_notes_check'],
    ["NULL, '2030-01-07Z', 30, 'booked', 'x', NULL", 'null value in column "pet_id"'],
    ["1, NULL, 30, 'booked', 'x', NULL", 'null value in column "starts_at"'],
  ])('rejects %s', async (row, reason) => {
    const insert = `INSERT INTO visits.visits (pet_id, starts_at, duration_minutes, status, reason, notes) VALUES (${row})`;
    await expect(database.dataSource.query(insert)).rejects.toThrow(reason);
  });
});
