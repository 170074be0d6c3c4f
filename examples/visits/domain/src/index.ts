export { NewVisit, type NewVisitInput, Visit, VISIT_NAME_MAX_LENGTH, type VisitView } from './visit.js';
export { VISIT_NOT_FOUND } from './visit-errors.js';
export { type VisitFilter, VisitReader } from './visit-reader.js';
export { type CreatedVisit, VisitRepository } from './visit-repository.js';
