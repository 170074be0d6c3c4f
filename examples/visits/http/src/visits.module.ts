import { provideUseCase } from '@animal-store/http-kit';
import { Clock } from '@animal-store/kernel';
import { PetCatalogue } from '@animal-store/pets-contract';
import {
  CancelOverdueVisits,
  CancelVisit,
  CheckInVisit,
  CreateVisit,
  GetVisit,
  ListVisitDays,
  ListVisits,
} from '@animal-store/visits-application';
import { VisitDayReader, VisitReader, VisitRepository } from '@animal-store/visits-domain';
import {
  TypeOrmVisitDayReader,
  TypeOrmVisitReader,
  TypeOrmVisitRepository,
  visitsPersistence,
  visitsSubscriptions,
} from '@animal-store/visits-infrastructure';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitDaysController } from './visit-days.controller.js';
import { VisitsController } from './visits.controller.js';

@Module({
  controllers: [VisitsController, VisitDaysController],
  providers: [
    { provide: VisitRepository, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitRepository(dataSource) },
    { provide: VisitReader, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitReader(dataSource) },
    { provide: VisitDayReader, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitDayReader(dataSource) },
    provideUseCase(CreateVisit, VisitRepository, PetCatalogue),
    provideUseCase(GetVisit, VisitReader),
    provideUseCase(ListVisits, VisitReader),
    provideUseCase(CheckInVisit, VisitRepository),
    provideUseCase(CancelVisit, VisitRepository),
    provideUseCase(CancelOverdueVisits, VisitRepository, VisitReader, Clock),
    provideUseCase(ListVisitDays, VisitDayReader),
  ],
})
export class VisitsModule {
  static readonly persistence = visitsPersistence;
  static readonly scopes = ['visits:read', 'visits:write'] as const;
  static readonly jobs = [{ name: 'visits-cancel-overdue', every: 3_600_000, useCase: CancelOverdueVisits }];
  static readonly subscriptions = visitsSubscriptions;
  static readonly tag = { name: 'visits', description: 'The appointment book of a veterinary practice.' } as const;
  /** Named schemas of the OpenAPI document that have no class. */
  static readonly schemas = {
    Visits: { type: 'array', items: { $ref: '#/components/schemas/VisitSummary' } },
    VisitDays: { type: 'array', items: { $ref: '#/components/schemas/VisitDay' } },
  } as const;
}
