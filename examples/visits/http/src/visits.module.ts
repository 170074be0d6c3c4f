import { provideUseCase } from '@animal-store/http-kit';
import { CreateVisit, GetVisit, ListVisits } from '@animal-store/visits-application';
import { VisitCatalogue } from '@animal-store/visits-contract';
import { VisitReader, VisitRepository } from '@animal-store/visits-domain';
import { visitsPersistence, TypeOrmVisitReader, TypeOrmVisitRepository } from '@animal-store/visits-infrastructure';
import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitsController } from './visits.controller.js';

@Global()
@Module({
  controllers: [VisitsController],
  providers: [
    { provide: VisitRepository, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitRepository(dataSource) },
    { provide: VisitReader, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmVisitReader(dataSource) },
    { provide: VisitCatalogue, useExisting: VisitReader },
    provideUseCase(CreateVisit, VisitRepository),
    provideUseCase(GetVisit, VisitReader),
    provideUseCase(ListVisits, VisitReader),
  ],
  // What other contexts may inject.
  exports: [VisitCatalogue],
})
export class VisitsModule {
  static readonly persistence = visitsPersistence;
  static readonly scopes = ['visits:read', 'visits:write'] as const;
  static readonly tag = { name: 'visits', description: 'Everything about visits.' } as const;
  /** Named schemas of the OpenAPI document that have no class. */
  static readonly schemas = {
    Visits: { type: 'array', items: { $ref: '#/components/schemas/Visit' } },
  } as const;
}
