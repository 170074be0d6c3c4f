import { InMemoryPets } from './in-memory-pets.js';
import { describePetsSuite } from './pets-suite.js';

describePetsSuite('InMemoryPets', () => {
  const pets = new InMemoryPets();
  return Promise.resolve({ repository: pets, reader: pets });
});
