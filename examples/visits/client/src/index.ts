export { type Visit, Visits } from './visits.js';
