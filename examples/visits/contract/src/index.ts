export { VisitCalendar } from './visit-calendar.js';
export { VisitBooked, VisitCancelled } from './visit-events.js';
