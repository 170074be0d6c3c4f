export { InMemoryPets } from './in-memory-pets.js';
export { aNewPet, OTHER_PET_VALUES } from './pet-builder.js';
export { describePetsSuite, type PetsAdapter } from './pets-suite.js';
