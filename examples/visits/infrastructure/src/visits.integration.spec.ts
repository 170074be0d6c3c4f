import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describeVisitsSuite } from '@animal-store/visits-testing';
import { describe, expect, it } from '@jest/globals';
import { TypeOrmVisitDayReader, TypeOrmVisitDays } from './typeorm-visit-days.js';
import { TypeOrmVisitReader } from './typeorm-visit-reader.js';
import { TypeOrmVisitRepository } from './typeorm-visit-repository.js';
import { visitsPersistence } from './visits-persistence.js';

const database = useDatabase(visitsPersistence);

describeMigrations(visitsPersistence);

describeVisitsSuite('PostgreSQL', async () => {
  await database.empty();
  return { repository: new TypeOrmVisitRepository(database.dataSource), reader: new TypeOrmVisitReader(database.dataSource) };
});

it('counts visits per day', async () => {
  await database.empty();
  await database.dataSource.transaction(async (manager) => {
    const days = new TypeOrmVisitDays(manager);
    for (const [day, visits] of [
      ['2030-01-07', 1],
      ['2030-01-08', 1],
      ['2030-01-07', 1],
      ['2030-01-08', -1],
    ] as const)
      await days.add(day, visits);
  });
  const { items } = await new TypeOrmVisitDayReader(database.dataSource).list({ limit: 10, order: { by: 'day', from: '2030-01-07' } });
  expect(items).toMatchObject([
    { day: '2030-01-07', visits: 2 },
    { day: '2030-01-08', visits: 0 },
  ]);
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
