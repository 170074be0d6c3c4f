import { InMemoryPets } from './in-memory-pets.js';
import { describePetsContract } from './pets-contract.js';

describePetsContract('InMemoryPets', () => {
  const pets = new InMemoryPets();
  return Promise.resolve({ repository: pets, reader: pets });
});
