import { describePetsSuite } from '@animal-store/pets-testing';
import { Database } from '@animal-store/database';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { afterAll, beforeAll } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { petsPersistence } from './pets-persistence.js';
import { TypeOrmPetReader } from './typeorm-pet-reader.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

const database = useDatabase(petsPersistence);
/** Distance between the identifiers that Citus assigns on two servers. */
const STEP = 2n ** 48n;

describeMigrations(petsPersistence);

describePetsSuite('PostgreSQL', async () => {
  await database.empty();
  return { repository: new TypeOrmPetRepository(database.dataSource), reader: new TypeOrmPetReader(database.dataSource) };
});

let sharded: DataSource;

beforeAll(async () => {
  sharded = new Database({ url: database.url, applicationName: 'spec', poolSize: 10, citus: true, persistence: [petsPersistence] });
  await sharded.initialize();
});

afterAll(() => sharded.destroy());

describePetsSuite('PostgreSQL, with the statements for Citus and identifiers in descending order, far apart', async () => {
  const range = `MINVALUE ${String(INT64_MIN)} MAXVALUE ${String(INT64_MAX)} START ${String(INT64_MAX - STEP)}`;
  await sharded.query(`ALTER SEQUENCE pets.pets_id_seq INCREMENT ${String(-STEP)} ${range}`);
  await database.empty();
  return { repository: new TypeOrmPetRepository(sharded), reader: new TypeOrmPetReader(sharded) };
});
