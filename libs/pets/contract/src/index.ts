export { PetCatalogue } from './pet-catalogue.js';
