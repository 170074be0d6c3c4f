import { eventsPersistence } from '@animal-store/database';
import { Module } from '@nestjs/common';

/** The tables of events. */
@Module({})
export class EventsModule {
  static readonly persistence = eventsPersistence;
}
