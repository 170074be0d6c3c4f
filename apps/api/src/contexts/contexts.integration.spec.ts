import {
  appendEvents,
  Database,
  eventsPersistence,
  EventSubscription,
  OnEvent,
  type StoredEvent,
  subscriptionOf,
} from '@animal-store/database';
import { provideUseCase, PublicUrl } from '@animal-store/http-kit';
import { Clock, defineEvent, SystemClock } from '@animal-store/kernel';
import { waitFor } from '@animal-store/local-postgres/testing';
import { PetCatalogue } from '@animal-store/pets-contract';
import { PetRepository } from '@animal-store/pets-domain';
import { petsContext } from '@animal-store/pets-http';
import { createMigratedDatabase } from '@animal-store/test-kit';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type DynamicModule, Logger, Module, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer, NestFactory } from '@nestjs/core';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AlwaysOnSampler, InMemorySpanExporter, ParentBasedSampler, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';
import { traceStatements } from '../observability/tracing.js';
import { collectSubscriptions, EventDelivery } from './event-delivery.js';

const OrderPlaced = defineEvent('orders.order_placed', 'orderId', { orderId: 'int64' });

class FollowOrders {
  @OnEvent(OrderPlaced)
  placed(): Promise<void> {
    return Promise.resolve();
  }
}

describe('collectSubscriptions', () => {
  @EventSubscription('first')
  class First extends FollowOrders {}

  @EventSubscription('second')
  class Second extends FollowOrders {}

  it('returns those of all contexts', () => {
    const contexts = [{ subscriptions: [First] }, {}, { subscriptions: [Second] }];
    const reactions = [{ type: 'orders.order_placed' }];
    expect(collectSubscriptions(contexts, { citus: false })).toMatchObject([
      { name: 'first', reactions },
      { name: 'second', reactions },
    ]);
    expect(collectSubscriptions([{}], { citus: true })).toEqual([]);
  });

  it('rejects two with the same name, and a class without the decorator', () => {
    const contexts = [{ subscriptions: [First, Second] }, { subscriptions: [Second] }];
    expect(() => collectSubscriptions(contexts, { citus: false })).toThrow('Two subscriptions have the name second.');
    expect(() => collectSubscriptions([{ subscriptions: [Metrics] }], { citus: false })).toThrow('Metrics must have the decorator');
  });

  it('rejects a class that handles no event, or one twice', () => {
    class Twice extends FollowOrders {
      @OnEvent(OrderPlaced)
      again(): Promise<void> {
        return this.placed();
      }
    }
    expect(() => EventSubscription('none')(class None {})).toThrow('None must have one method with @OnEvent for each event.');
    expect(() => EventSubscription('twice')(Twice)).toThrow('Twice must have one method');
  });

  it('rejects distributed tables', () => {
    expect(() => collectSubscriptions([{ subscriptions: [First, Second] }], { citus: true })).toThrow(
      'CITUS must be off: subscriptions to events need one database server (first, second).',
    );
  });
});

function deliveryWithoutDatabase(): EventDelivery {
  const database = new Database({ url: 'postgres://nowhere', applicationName: 'spec', poolSize: 1, persistence: [] });
  return new EventDelivery(database, new Metrics(), {} as ModuleRef, new ModulesContainer());
}

describe('EventDelivery', () => {
  afterEach(() => {
    jest.restoreAllMocks();
    context.disable();
    trace.disable();
  });

  it('counts and logs what a subscription does without traces, and stops with the app', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new TracerProvider({
      sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
      spanProcessors: [new SimpleSpanProcessor({ exporter })],
    });
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    trace.setGlobalTracerProvider(provider);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

    const database = await createMigratedDatabase([eventsPersistence]);
    const execute = jest
      .fn<(event: { orderId: bigint }) => Promise<void>>()
      .mockRejectedValueOnce(new Error('no stock'))
      .mockResolvedValue();

    @EventSubscription('pets-follow-orders')
    class PetsFollowOrders {
      @OnEvent(OrderPlaced)
      placed(event: { orderId: bigint }): Promise<void> {
        return execute(event);
      }
    }

    const dataSource = new Database({
      url: database.url,
      applicationName: 'spec',
      poolSize: 3,
      persistence: [eventsPersistence],
      subscriptions: [subscriptionOf(PetsFollowOrders)],
      interceptor: traceStatements(trace.getTracer('spec')),
    });
    const metrics = new Metrics();
    const moduleRef = { get: () => new PetsFollowOrders() } as unknown as ModuleRef;
    const delivery = new EventDelivery(dataSource, metrics, moduleRef, new ModulesContainer());
    delivery.onApplicationBootstrap();
    await dataSource.open();
    exporter.reset();
    const request = trace.setSpan(context.active(), trace.getTracer('spec').startSpan('request'));
    await context.with(request, () =>
      dataSource.transaction((manager) => appendEvents(manager, OrderPlaced.of({ orderId: 2n ** 53n + 1n }))),
    );
    const published = exporter.getFinishedSpans().length;
    expect(published).toBeGreaterThan(0);
    await waitFor(async () => {
      const text = await metrics.registry.metrics();
      expect(text).toContain('events_processed_total{subscription="pets-follow-orders"} 1');
      expect(text).toContain('event_failures_total{subscription="pets-follow-orders"} 1');
      for (const gauge of ['lag_seconds', 'parked_events'])
        expect(text).toMatch(new RegExp(`event_subscription_${gauge}\\{subscription="pets-follow-orders"\\} [\\d.]+`));
    });
    expect(execute).toHaveBeenLastCalledWith({ orderId: 2n ** 53n + 1n });
    expect(warn).toHaveBeenCalledWith(
      'The subscription pets-follow-orders failed at the event 1 (orders.order_placed) and retries it: Error: no stock',
    );

    expect(exporter.getFinishedSpans()).toHaveLength(published);
    expect(exporter.getFinishedSpans().find(({ name }) => name === 'COMMIT')?.attributes).not.toHaveProperty(['db.query.text']);

    await delivery.beforeApplicationShutdown();
    await dataSource.close();
    await database.drop();
    await provider.shutdown();
  });

  @EventSubscription('forgotten')
  class Forgotten extends FollowOrders {}

  it.each([
    ['no module provides the class of a subscription', [], [subscriptionOf(Forgotten)], 'Nest could not find Forgotten element'],
    ['no context lists it', [Forgotten], [], 'Forgotten must be in `subscriptions` of its context.'],
  ])('fails the start if %s', async (_what, providers, subscriptions, reason) => {
    const app = await NestFactory.createApplicationContext({ module: class Root {}, providers }, { logger: false });
    const database = new Database({ url: 'postgres://nowhere', applicationName: 'spec', poolSize: 1, persistence: [], subscriptions });
    const delivery = new EventDelivery(database, new Metrics(), app.get(ModuleRef), app.get(ModulesContainer));
    expect(() => delivery.onApplicationBootstrap()).toThrow(reason);
    await app.close();
  });

  it('warns once per outage while events cannot be handled', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const delivery = deliveryWithoutDatabase();
    for (let outages = 1; outages <= 2; outages++) {
      for (let i = 0; i < 3; i++) delivery.interrupted(new Error('no table'));
      expect(warn.mock.calls).toEqual(Array.from({ length: outages }, () => ['Events are not handled at the moment: Error: no table']));
      delivery.status([]);
    }
  });

  it('logs whatever a handler throws', () => {
    const lines: unknown[][] = [];
    for (const level of ['warn', 'error'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation((...args: unknown[]) => void lines.push(args));
    const delivery = deliveryWithoutDatabase();
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const event = { subscription: 'pets', type: 'orders.order_placed', position: 7n } as StoredEvent;
    const withoutClass = Object.setPrototypeOf(new Error('odd'), null) as unknown;
    for (const error of [proxy, undefined, Symbol('odd'), withoutClass]) {
      delivery.interrupted(error);
      for (const isParked of [false, true]) delivery.failed(event, error, isParked);
    }
    delivery.failed(event, new Error('no stock'), true);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toEqual([
      'The subscription pets failed at the event 7 (orders.order_placed); the event is parked: Error: no stock',
      expect.stringContaining('contexts.integration.spec.ts'),
    ]);
  });
});

describe('contexts', () => {
  class PlaceOrder {
    constructor(readonly pets: PetCatalogue) {}
  }

  /** A context that asks another one, without importing its module. */
  @Module({ providers: [provideUseCase(PlaceOrder, PetCatalogue)] })
  class OrdersModule {}

  class Root {}

  /** Creates an app as AppModule does, without a database. */
  function start(...contexts: (DynamicModule | Type)[]) {
    const dataSource = new Database({ url: 'postgres://nowhere', applicationName: 'spec', poolSize: 1, persistence: [] });
    const provided = [
      { provide: DataSource, useValue: dataSource },
      { provide: PublicUrl, useValue: undefined },
      { provide: Clock, useClass: SystemClock },
    ];
    const root: DynamicModule = { module: Root, global: true, imports: contexts, providers: provided, exports: provided };
    return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  }

  it('a context injects the port that another context publishes, in any order of registration', async () => {
    for (const contexts of [
      [OrdersModule, petsContext.module],
      [petsContext.module, OrdersModule],
    ]) {
      const app = await start(...contexts);
      expect(app.get(PlaceOrder, { strict: false }).pets).toBe(app.get(PetRepository, { strict: false }));
      await app.close();
    }
  });

  it('the app does not start if no context provides the port', async () => {
    await expect(start(OrdersModule)).rejects.toThrow(/can't resolve dependencies of the PlaceOrder.*\n?.*PetCatalogue/);
  });
});
