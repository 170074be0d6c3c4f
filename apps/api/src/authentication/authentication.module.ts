import { AuthenticateApiKey } from '@animal-store/access-application';
import { ApiKeyRepository } from '@animal-store/access-domain';
import { accessPersistence, TypeOrmApiKeyRepository } from '@animal-store/access-infrastructure';
import { defineContext, provideUseCase } from '@animal-store/http-kit';
import { Clock } from '@animal-store/kernel';
import { Module } from '@nestjs/common';
import { AuthenticationGuard } from './guards.js';

/** The guard of API keys. Also the module of the context `access`, which has no routes. */
@Module({
  providers: [
    { provide: ApiKeyRepository, useClass: TypeOrmApiKeyRepository },
    provideUseCase(AuthenticateApiKey, ApiKeyRepository, Clock),
    AuthenticationGuard,
  ],
  exports: [AuthenticationGuard],
})
export class AuthenticationModule {}

export const accessContext = defineContext({ module: AuthenticationModule, persistence: accessPersistence });
