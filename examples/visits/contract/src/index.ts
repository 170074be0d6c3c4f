export { VisitBooked, VisitCancelled } from './visit-events.js';
