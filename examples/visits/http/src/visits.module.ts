import { defineContext, provideUseCase } from '@animal-store/http-kit';
import { Clock } from '@animal-store/kernel';
import { PetCatalogue } from '@animal-store/pets-contract';
import {
  AddTreatment,
  CancelOverdueVisits,
  CancelVisit,
  CheckInVisit,
  CreateVisit,
  GetVisit,
  ListTreatments,
  ListVisits,
} from '@animal-store/visits-application';
import { TreatmentRepository, VisitReader, VisitRepository } from '@animal-store/visits-domain';
import {
  TypeOrmTreatmentRepository,
  TypeOrmVisitReader,
  TypeOrmVisitRepository,
  visitsPersistence,
  visitsSubscriptions,
} from '@animal-store/visits-infrastructure';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitsController } from './visits.controller.js';

@Module({
  controllers: [VisitsController],
  providers: [
    { provide: VisitRepository, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitRepository(dataSource) },
    { provide: VisitReader, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitReader(dataSource) },
    { provide: TreatmentRepository, inject: [DataSource], useFactory: (source: DataSource) => new TypeOrmTreatmentRepository(source) },
    provideUseCase(CreateVisit, VisitRepository, PetCatalogue),
    provideUseCase(GetVisit, VisitReader),
    provideUseCase(ListVisits, VisitReader),
    provideUseCase(CheckInVisit, VisitRepository),
    provideUseCase(CancelVisit, VisitRepository),
    provideUseCase(CancelOverdueVisits, VisitRepository, VisitReader, Clock),
    provideUseCase(AddTreatment, TreatmentRepository),
    provideUseCase(ListTreatments, TreatmentRepository, VisitReader),
  ],
})
class VisitsModule {}

export const visitsContext = defineContext({
  module: VisitsModule,
  persistence: visitsPersistence,
  scopes: ['visits:read', 'visits:write'],
  jobs: [{ name: 'visits-cancel-overdue', every: 3_600_000, useCase: CancelOverdueVisits }],
  subscriptions: visitsSubscriptions,
  tag: { name: 'visits', description: 'The appointment book of a veterinary practice.' },
  schemas: {
    Visits: { type: 'array', items: { $ref: '#/components/schemas/Visit' } },
    Treatments: { type: 'array', items: { $ref: '#/components/schemas/Treatment' } },
  },
});
