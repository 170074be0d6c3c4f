export { CreatePet } from './create-pet.js';
export { GetPet } from './get-pet.js';
export { ListPets, type PetPage } from './list-pets.js';
