export { CreatePet, GetPet, ListPets } from './pets.js';
