import type { Persistence, Subscription } from '@animal-store/database';
import type { Type } from '@nestjs/common';
import type { DocumentedContext } from '../reference/openapi-document.js';
import type { ScheduledJob } from './job-runner.js';

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
