import { describeVisitsSuite } from '@animal-store/visits-testing';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { describe, expect, it } from '@jest/globals';
import { visitsPersistence } from './visits-persistence.js';
import { TypeOrmVisitReader } from './typeorm-visit-reader.js';
import { TypeOrmVisitRepository } from './typeorm-visit-repository.js';

const database = useDatabase(visitsPersistence);

describeMigrations(visitsPersistence);

describeVisitsSuite('PostgreSQL', async () => {
  await database.empty();
  return { repository: new TypeOrmVisitRepository(database.dataSource), reader: new TypeOrmVisitReader(database.dataSource) };
});

describe('the tables of the schema visits', () => {
  it.each([
    [`('')`, 'visits_name_check'],
    [`(repeat('x', 256))`, 'visits_name_check'],
    ['(NULL)', 'null value in column "name"'],
  ])('reject the name %s', async (name, reason) => {
    await expect(database.dataSource.query(`INSERT INTO visits.visits (name) VALUES ${name}`)).rejects.toThrow(reason);
  });
});
