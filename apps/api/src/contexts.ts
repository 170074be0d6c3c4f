import type { Persistence, Subscription } from '@animal-store/database';
import type { Type } from '@nestjs/common';
import type { ScheduledJob } from './contexts/job-runner.js';
import type { DocumentedContext } from './reference/openapi-document.js';
import * as registered from './registered-contexts.js';

/** A Nest module with its persistence in PostgreSQL and its additions to the OpenAPI document. */
export type Context = Type &
  DocumentedContext & {
    readonly persistence: Persistence;
    /** Scopes that API keys can grant. */
    readonly scopes?: readonly string[];
    /** Run by the service in the background. */
    readonly jobs?: readonly ScheduledJob[];
    /** Reactions to events of any context. */
    readonly subscriptions?: readonly Subscription[];
  };

export const contexts: readonly Context[] = Object.values(registered);
