import {
  Database,
  describeError,
  type EventHandler,
  type EventObserver,
  EventRunner,
  isEventHandler,
  type StoredEvent,
  type Subscription,
  subscriptionOf,
  type SubscriptionStatus,
} from '@animal-store/database';
import type { Context } from '@animal-store/http-kit';
import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { Metrics } from '../observability/metrics.js';
import type { Config } from '../config/config.js';
import { assertUnique, StartupError } from '../config/startup-errors.js';

/** @throws StartupError if two subscriptions have the same name, or if the tables are distributed */
export function collectSubscriptions(
  contexts: readonly Pick<Context, 'subscriptions'>[],
  { citus }: Pick<Config, 'citus'>,
): readonly Subscription[] {
  const subscriptions = contexts.flatMap((each) => each.subscriptions ?? []).map(subscriptionOf);
  assertUnique('subscriptions', subscriptions);
  const names = subscriptions.map(({ name }) => name).join(', ');
  if (citus && names !== '') throw new StartupError(`CITUS must be off: subscriptions to events need one database server (${names}).`);
  return subscriptions;
}

/** Lets the subscriptions of all contexts handle events while the app runs. */
@Injectable()
export class EventDelivery implements EventObserver, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(EventDelivery.name);
  private readonly runner: EventRunner;
  private isInterrupted = false;

  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
    moduleRef: ModuleRef,
    private readonly modules: ModulesContainer,
  ) {
    const handlerOf = (handler: EventHandler) => moduleRef.get<object>(handler, { strict: false });
    this.runner = new EventRunner(database, this, { handlerOf });
  }

  onApplicationBootstrap(): void {
    const { subscriptions = [], citus } = this.database.settings;
    const types = [...this.modules.values()].flatMap(({ providers }) => [...providers.values()].map(({ metatype }) => metatype));
    const unlisted = types.filter(isEventHandler).find((type) => !citus && !subscriptions.some(({ handler }) => handler === type));
    if (unlisted) throw new StartupError(`${unlisted.name} must be in \`subscriptions\` of its context.`);
    this.runner.start();
  }

  /** The database is still connected at this point. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.runner.stop();
  }

  processed({ subscription }: StoredEvent): void {
    this.metrics.eventsProcessed.inc({ subscription });
  }

  failed({ subscription, type, position }: StoredEvent, error: unknown, isParked: boolean): void {
    this.metrics.eventFailures.inc({ subscription });
    const message = `The subscription ${subscription} failed at the event ${String(position)} (${type})`;
    const reason = describeError(error);
    if (isParked) this.logger.error(`${message}; the event is parked: ${reason}`, Error.isError(error) ? error.stack : undefined);
    else this.logger.warn(`${message} and retries it: ${reason}`);
  }

  interrupted(error: unknown): void {
    if (!this.isInterrupted) this.logger.warn(`Events are not handled at the moment: ${describeError(error)}`);
    this.isInterrupted = true;
  }

  status(subscriptions: readonly SubscriptionStatus[]): void {
    this.isInterrupted = false;
    this.metrics.setSubscriptions(subscriptions);
  }
}
