export { petsContext } from './pets.module.js';
