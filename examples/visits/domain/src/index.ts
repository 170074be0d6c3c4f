export { NewTreatment, type NewTreatmentInput, type Treatment, TREATMENT_NAME_MAX_LENGTH } from './treatment.js';
export { INVALID_TREATMENT } from './treatment-errors.js';
export { type TreatmentFilter, TreatmentRepository } from './treatment-repository.js';
export {
  assertBooked,
  changeVisit,
  isVisitMinutes,
  moveVisit,
  NewVisit,
  type NewVisitInput,
  type Visit,
  VISIT_MINUTES,
  VISIT_MINUTES_RULE,
  VISIT_NOTES_MAX_LENGTH,
  VISIT_REASON_MAX_LENGTH,
  type VisitChanges,
  VisitStatus,
} from './visit.js';
export {
  INVALID_VISIT,
  PET_UNKNOWN,
  REPORT_EXISTS,
  REPORT_NOT_FOUND,
  VISIT_NOT_BOOKED,
  VISIT_NOT_FOUND,
  VISIT_OVERLAPS,
} from './visit-errors.js';
export { type VisitCommand, VisitDays, type VisitFilter, VisitRepository } from './visit-repository.js';
export { REPORT_MAX_BYTES, type VisitReport, VisitReportRepository } from './visit-report.js';
