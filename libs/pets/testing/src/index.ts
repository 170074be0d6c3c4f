export { InMemoryPets } from './in-memory-pets.js';
export { aNewPet } from './pet-builder.js';
export { describePetsContract, type PetsAdapter } from './pets-contract.js';
