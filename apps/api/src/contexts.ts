import type { Persistence } from '@animal-store/database';
import { PetsModule } from '@animal-store/pets-http';
import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { AccessModule } from './authentication/access.module.js';

/** A Nest module, what it keeps in PostgreSQL, and what it adds to the schemas of the OpenAPI document. */
export type Context = Type & {
  readonly persistence: Persistence;
  readonly schemas?: NonNullable<OpenAPIObject['components']>['schemas'];
};

/** The contexts that this deployment serves, one line each. */
export const contexts: readonly Context[] = [AccessModule, PetsModule];
