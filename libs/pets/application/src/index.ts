export { CreatePet } from './create-pet.js';
export { GetPet } from './get-pet.js';
export { ListPets } from './list-pets.js';
