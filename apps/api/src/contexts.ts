import type { Persistence } from '@animal-store/database';
import type { Type } from '@nestjs/common';
import type { DocumentedContext } from './reference/openapi-document.js';
import * as registered from './registered-contexts.js';

/** A Nest module, what it keeps in PostgreSQL, and what it adds to the OpenAPI document. */
export type Context = Type &
  DocumentedContext & {
    readonly persistence: Persistence;
    /** What API keys may allow of it. */
    readonly scopes?: readonly string[];
  };

export const contexts: readonly Context[] = Object.values(registered);
