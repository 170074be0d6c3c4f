import { AuthenticateApiKey } from '@animal-store/access-application';
import { accessPersistence, createAccessUseCases } from '@animal-store/access-infrastructure';
import { Clock } from '@animal-store/kernel';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuthenticationGuard } from './guards.js';

/** The guard of API keys. Also the module of the context `access`, which has no routes. */
@Module({
  providers: [
    {
      provide: AuthenticateApiKey,
      inject: [DataSource, Clock],
      useFactory: (dataSource: DataSource, clock: Clock) => createAccessUseCases(dataSource, clock).authenticateApiKey,
    },
    AuthenticationGuard,
  ],
  exports: [AuthenticationGuard],
})
export class AuthenticationModule {
  static readonly persistence = accessPersistence;
}
