export { CancelOverdueVisits } from './cancel-overdue-visits.js';
export { CancelVisit } from './cancel-visit.js';
export { CheckInVisit } from './check-in-visit.js';
export { CountVisit } from './count-visit.js';
export { CreateVisit } from './create-visit.js';
export { GetVisit } from './get-visit.js';
export { ListVisitDays } from './list-visit-days.js';
export { ListVisits } from './list-visits.js';
