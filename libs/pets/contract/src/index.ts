export { type CataloguedPet, PetCatalogue } from './pet-catalogue.js';
