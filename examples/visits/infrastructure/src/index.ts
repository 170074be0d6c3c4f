export { TypeOrmTreatmentRepository } from './typeorm-treatment-repository.js';
export { TypeOrmVisitDays } from './typeorm-visit-days.js';
export { TypeOrmVisitReportRepository } from './typeorm-visit-report-repository.js';
export { TypeOrmVisitRepository } from './typeorm-visit-repository.js';
export { visitsPersistence } from './visits-persistence.js';
export { VisitsPerDay } from './visits-per-day.js';
