import { DeleteOldEvents, eventsPersistence } from '@animal-store/database';
import { provideUseCase } from '@animal-store/http-kit';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The tables of the log of events. */
@Module({ providers: [provideUseCase(DeleteOldEvents, DataSource)] })
export class EventsModule {
  static readonly persistence = eventsPersistence;
  static readonly jobs = [{ name: 'events-delete-old', every: 3_600_000, useCase: DeleteOldEvents }];
}
