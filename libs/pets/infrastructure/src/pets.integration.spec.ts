import { createDataSource, migrateUp } from '@animal-store/database';
import { createTestDatabase } from '@animal-store/local-postgres/testing';
import { describePetsContract } from '@animal-store/pets-testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll } from 'vitest';
import { GroupedPetRepository } from './grouped-pet-repository.js';
import { petsPersistence } from './pets-persistence.js';
import { PostgresPetCatalogue } from './postgres-pet-catalogue.js';
import { PostgresPetRepository } from './postgres-pet-repository.js';
import { SharedPetCatalogue } from './shared-pet-catalogue.js';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = createDataSource({ url: database.url, applicationName: 'spec', poolSize: 10, persistence: [petsPersistence] });
  await dataSource.initialize();
  await migrateUp(dataSource);
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function emptyAdapters(): Promise<{ repository: PostgresPetRepository; catalogue: PostgresPetCatalogue }> {
  await dataSource.query('TRUNCATE pets.pets, pets.idempotency_keys');
  return { repository: new PostgresPetRepository(dataSource), catalogue: new PostgresPetCatalogue(dataSource) };
}

describePetsContract('PostgreSQL', emptyAdapters);

describePetsContract('PostgreSQL, grouped and shared', async () => {
  const { repository, catalogue } = await emptyAdapters();
  return { repository: new GroupedPetRepository(repository), catalogue: new SharedPetCatalogue(catalogue) };
});
