export { AddReport, GetReport } from './reports.js';
export { CreateTreatment, ListTreatments } from './treatments.js';
export {
  CancelOverdueVisits,
  CancelVisit,
  ChangeVisit,
  CheckInVisit,
  CountVisit,
  CreateVisit,
  DeleteVisit,
  GetVisit,
  type ListedVisit,
  ListVisits,
} from './visits.js';
