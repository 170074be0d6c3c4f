export { visitsContext } from './visits.module.js';
