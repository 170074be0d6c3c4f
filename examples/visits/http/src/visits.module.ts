import { defineContext, provideUseCase } from '@animal-store/http-kit';
import { Clock } from '@animal-store/kernel';
import { PetCatalogue } from '@animal-store/pets-contract';
import {
  AddReport,
  CancelOverdueVisits,
  CancelVisit,
  ChangeVisit,
  CheckInVisit,
  CountVisit,
  CreateTreatment,
  CreateVisit,
  DeleteVisit,
  GetReport,
  GetVisit,
  ListTreatments,
  ListVisits,
} from '@animal-store/visits-application';
import { TreatmentRepository, VisitDays, VisitReportRepository, VisitRepository } from '@animal-store/visits-domain';
import {
  TypeOrmTreatmentRepository,
  TypeOrmVisitDays,
  TypeOrmVisitReportRepository,
  TypeOrmVisitRepository,
  visitsPersistence,
  VisitsPerDay,
} from '@animal-store/visits-infrastructure';
import { Module } from '@nestjs/common';
import { TreatmentsController } from './treatments.controller.js';
import { VisitReportsController } from './visit-reports.controller.js';
import { VisitsController } from './visits.controller.js';

@Module({
  controllers: [VisitsController, TreatmentsController, VisitReportsController],
  providers: [
    { provide: VisitRepository, useClass: TypeOrmVisitRepository },
    { provide: TreatmentRepository, useClass: TypeOrmTreatmentRepository },
    { provide: VisitDays, useClass: TypeOrmVisitDays },
    { provide: VisitReportRepository, useClass: TypeOrmVisitReportRepository },
    provideUseCase(CreateVisit, VisitRepository, PetCatalogue),
    provideUseCase(GetVisit, VisitRepository),
    provideUseCase(ListVisits, VisitRepository, PetCatalogue),
    provideUseCase(ChangeVisit, VisitRepository),
    provideUseCase(DeleteVisit, VisitRepository),
    provideUseCase(CheckInVisit, VisitRepository),
    provideUseCase(CancelVisit, VisitRepository),
    provideUseCase(CancelOverdueVisits, VisitRepository, Clock),
    provideUseCase(CountVisit, VisitDays),
    VisitsPerDay,
    provideUseCase(CreateTreatment, TreatmentRepository),
    provideUseCase(ListTreatments, TreatmentRepository, VisitRepository),
    provideUseCase(AddReport, VisitReportRepository),
    provideUseCase(GetReport, VisitReportRepository),
  ],
})
class VisitsModule {}

export const visitsContext = defineContext({
  module: VisitsModule,
  persistence: visitsPersistence,
  scopes: ['visits:read', 'visits:write'],
  jobs: [{ name: 'visits-cancel-overdue', every: 3_600_000, useCase: CancelOverdueVisits }],
  subscriptions: [VisitsPerDay],
  tag: { name: 'visits', description: 'The appointment book of a veterinary practice.' },
  schemas: {
    Visits: { type: 'array', items: { $ref: '#/components/schemas/ListedVisit' } },
    Treatments: { type: 'array', items: { $ref: '#/components/schemas/Treatment' } },
  },
});
