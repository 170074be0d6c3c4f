export { CancelOverdueVisits } from './cancel-overdue-visits.js';
export { CancelVisit, CheckInVisit } from './change-visit.js';
export { CountVisit } from './count-visit.js';
export { CreateVisit } from './create-visit.js';
export { GetVisit, ListVisits } from './read-visits.js';
export { AddTreatment, ListTreatments } from './treatments.js';
