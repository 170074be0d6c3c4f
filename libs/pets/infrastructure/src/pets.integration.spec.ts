import { describePetsContract } from '@animal-store/pets-testing';
import { useDatabase } from '@animal-store/test-kit';
import { GroupedPetRepository } from './grouped-pet-repository.js';
import { petsPersistence } from './pets-persistence.js';
import { PostgresPetCatalogue } from './postgres-pet-catalogue.js';
import { PostgresPetRepository } from './postgres-pet-repository.js';
import { SharedPetCatalogue } from './shared-pet-catalogue.js';

const database = useDatabase(petsPersistence);

async function emptyAdapters(): Promise<{ repository: PostgresPetRepository; catalogue: PostgresPetCatalogue }> {
  await database.empty();
  return { repository: new PostgresPetRepository(database.dataSource), catalogue: new PostgresPetCatalogue(database.dataSource) };
}

describePetsContract('PostgreSQL', emptyAdapters);

describePetsContract('PostgreSQL, grouped and shared', async () => {
  const { repository, catalogue } = await emptyAdapters();
  return { repository: new GroupedPetRepository(repository), catalogue: new SharedPetCatalogue(catalogue) };
});
