import { AuthenticateApiKey } from '@animal-store/access-application';
import { accessPersistence, createAccessUseCases } from '@animal-store/access-infrastructure';
import { Clock } from '@animal-store/kernel';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

@Module({
  providers: [
    {
      provide: AuthenticateApiKey,
      inject: [DataSource, Clock],
      useFactory: (dataSource: DataSource, clock: Clock) => createAccessUseCases(dataSource, clock).authenticateApiKey,
    },
  ],
  exports: [AuthenticateApiKey],
})
export class AccessModule {
  static readonly persistence = accessPersistence;
}
