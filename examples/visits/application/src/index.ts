export { CountVisit } from './count-visit.js';
export { GetVisit, ListVisits } from './read-visits.js';
export { AddReport, GetReport } from './reports.js';
export { AddTreatment, ListTreatments } from './treatments.js';
export { CancelOverdueVisits, CancelVisit, CheckInVisit, CreateVisit } from './write-visits.js';
