export { CreateVisit } from './create-visit.js';
export { GetVisit } from './get-visit.js';
export { ListVisits } from './list-visits.js';
