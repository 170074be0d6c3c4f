import { describePetsContract } from '@animal-store/pets-testing';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { petsPersistence } from './pets-persistence.js';
import { TypeOrmPetReader } from './typeorm-pet-reader.js';
import { TypeOrmPetRepository } from './typeorm-pet-repository.js';

const database = useDatabase(petsPersistence);

describeMigrations(petsPersistence);

describePetsContract('PostgreSQL', async () => {
  await database.empty();
  return { repository: new TypeOrmPetRepository(database.dataSource), reader: new TypeOrmPetReader(database.dataSource) };
});
