export { InMemoryTreatments } from './in-memory-treatments.js';
export { InMemoryVisitDays } from './in-memory-visit-days.js';
export { InMemoryVisits } from './in-memory-visits.js';
export { aNewVisit, aVisitInSlot, OTHER_VISIT_VALUES } from './visit-builder.js';
export { describeVisitsSuite, type VisitsAdapter } from './visits-suite.js';
