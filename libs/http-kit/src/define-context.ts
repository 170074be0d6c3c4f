import type { Job, Persistence } from '@animal-store/database';
import type { SettingsClass } from '@animal-store/kernel/settings';
import type { DynamicModule, Type } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Scope } from './routes.js';

/** A job of a context. The use case is a provider of the context's module. */
export interface ScheduledJob extends Job {
  readonly useCase: Type<{ execute(): unknown }>;
}

/** What a context adds to the service, to its OpenAPI document and to the command-line tool. */
export interface Context {
  /** The Nest module with the controllers and providers of the context. */
  readonly module: Type | DynamicModule;
  readonly persistence: Persistence;
  /** Scopes that API keys can grant. */
  readonly scopes?: readonly Scope[];
  /** Run by the service in the background. */
  readonly jobs?: readonly ScheduledJob[];
  /** Classes with `@EventSubscription` that handle events of any context. They are providers of the module. */
  readonly subscriptions?: readonly Type<object>[];
  /** Environment variables, with the classes that have their values. */
  readonly settings?: readonly SettingsClass[];
  /** The group of the context's operations in the OpenAPI document. */
  readonly tag?: { readonly name: string; readonly description: string };
  /** Named schemas of the OpenAPI document that no class declares. */
  readonly schemas?: NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
}

/** Defines a context. `registered-contexts.ts` of the API lists those that the service serves. */
export function defineContext(definition: Context): Context {
  return definition;
}
