import { eventsPersistence } from '@animal-store/database';
import { Module } from '@nestjs/common';

/** The tables of the log of events. */
@Module({})
export class EventsModule {
  static readonly persistence = eventsPersistence;
}
