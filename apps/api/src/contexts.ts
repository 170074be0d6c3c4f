import type { Persistence } from '@animal-store/database';
import type { Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import * as registered from './registered-contexts.js';

/** A Nest module, what it keeps in PostgreSQL, and what it adds to the OpenAPI document. */
export type Context = Type & {
  readonly persistence: Persistence;
  /** What API keys may allow of it. */
  readonly scopes?: readonly string[];
  readonly tag?: { readonly name: string; readonly description: string };
  /** Named schemas that no class stands for. */
  readonly schemas?: NonNullable<OpenAPIObject['components']>['schemas'];
};

export const contexts: readonly Context[] = Object.values(registered);
