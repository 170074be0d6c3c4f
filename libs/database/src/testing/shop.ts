import { defineEvent, type EventDefinition, type EventPayload } from '@animal-store/kernel';
import { createTestDatabase, setOddSettings, type TestDatabase } from '@animal-store/local-postgres/testing';
import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';
import { Database } from '../database.js';
import { currentManager, EventSubscription, OnEvent, subscriptionOf } from '../events/event-handlers.js';
import { appendEvents, eventsPersistence } from '../events/events.js';
import { type EventObserver, EventRunner, type EventRunnerOptions } from '../events/event-runner.js';
import type { Subscription } from '../persistence.js';
import { IdempotencyKeyEntity } from '../batching/idempotency-keys.js';
import { migrateUp } from '../migrations/migrations.js';
import { createIdempotencyKeyTable } from './order-lines.js';

/** Long, because the machine may be busy. */
const PATIENCE_MS = 60_000;

export const OrderPlaced = defineEvent('shop.order_placed', 'orderId', {
  orderId: 'int64',
  petId: 'int64',
  customer: 'text',
  placedAt: 'time',
  note: 'text?',
});
export const OrderMoved = defineEvent('shop.order_moved', 'orderId', { orderId: 'int64', step: 'integer' });

@Entity({ schema: 'shop', name: 'orders' })
export class OrderEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('bigint', { name: 'pet_id' })
  petId!: bigint;

  @Column('text')
  customer!: string;

  @Column({ type: 'timestamptz', name: 'placed_at', precision: 3 })
  placedAt!: Date;

  @Column('text', { nullable: true })
  note!: string | null;
}

@Entity({ schema: 'shop', name: 'order_keys' })
export class OrderKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'order_id' })
  override rowId!: bigint;
}

class CreateShop1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query(`
      CREATE TABLE shop.orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, pet_id bigint NOT NULL, customer text NOT NULL CHECK (customer <> 'broken'),
        placed_at timestamptz(3) NOT NULL, note text
      )`);
    await queryRunner.query(createIdempotencyKeyTable('shop.order_keys', 'order_id'));
    await queryRunner.query(`
      CREATE TABLE shop.effects (
        ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, subscription text NOT NULL, order_id bigint NOT NULL, step integer NOT NULL
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA shop CASCADE');
  }
}

const shopPersistence = {
  schema: 'shop',
  entities: [OrderEntity, OrderKeyEntity],
  migrations: [CreateShop1763683200000],
};

/** Specs override what they observe. */
export const SILENT_OBSERVER: EventObserver = {
  processed: () => undefined,
  failed: () => undefined,
  interrupted: () => undefined,
  status: () => undefined,
};

/** Handles events in this process until it ends. */
export async function startEventRunner(url: string, subscriptions: readonly Subscription[], options: Partial<EventRunnerOptions> = {}) {
  const persistence = [shopPersistence, eventsPersistence];
  const settings = { url, applicationName: 'spec', poolSize: 5, connectTimeoutMs: PATIENCE_MS, persistence, subscriptions };
  const dataSource = await new Database(settings).initialize();
  dataSource.hasOpened = true;
  const observer: EventObserver = { ...SILENT_OBSERVER, failed: (_event, error) => console.error(error), interrupted: console.error };
  new EventRunner(dataSource, observer, { handlerOf: (handler) => new handler(dataSource as never), pollMs: 20, ...options }).start();
  return dataSource;
}

/** Called with each event after its effect was written, before the commit. */
export type Hook = (event: EventPayload<typeof OrderPlaced> | EventPayload<typeof OrderMoved>) => void | Promise<void>;

/** Returns a subscription that records each event in `shop.effects`, with step 0 for placed orders. */
export function recorder(
  name: string,
  hook: Hook = () => undefined,
  events: readonly EventDefinition[] = [OrderPlaced, OrderMoved],
  ignores: readonly EventDefinition[] = [],
): Subscription {
  class Recorder {
    constructor(private readonly database: Database) {}

    async record(event: Parameters<Hook>[0]): Promise<void> {
      const values = [name, event.orderId, 'step' in event ? event.step : 0];
      const manager = currentManager(this.database);
      await manager.query('INSERT INTO shop.effects (subscription, order_id, step) VALUES ($1, $2, $3)', values);
      await hook(event);
    }
  }
  for (const event of events) OnEvent(event)(Recorder.prototype, 'record', {});
  EventSubscription(name, { ignores })(Recorder);
  return subscriptionOf(Recorder);
}

export interface Shop {
  readonly database: TestDatabase;
  /** Opens a process of the deployment. */
  open: (...subscriptions: Subscription[]) => Promise<Database>;
  close: () => Promise<void>;
}

/** Creates a database with the shop and the log of events. */
export async function createShop(): Promise<Shop> {
  const database = await createTestDatabase();
  await setOddSettings(database.url);
  const opened: Database[] = [];
  const open = async (...subscriptions: Subscription[]) => {
    const persistence = [shopPersistence, eventsPersistence];
    const options = { applicationName: 'spec', poolSize: 5, connectTimeoutMs: PATIENCE_MS };
    const dataSource = new Database({ ...options, url: database.url, persistence, subscriptions });
    opened.push(await dataSource.initialize());
    dataSource.hasOpened = true;
    return dataSource;
  };
  await migrateUp(await open());
  return {
    database,
    open,
    close: async () => {
      for (const dataSource of opened) if (dataSource.isInitialized) await dataSource.destroy();
      await database.drop();
    },
  };
}

/** Publishes that an order moved, in its own transaction. */
export function moveOrder(dataSource: Database, orderId: bigint, step: number): Promise<void> {
  return dataSource.transaction((manager) => appendEvents(manager, OrderMoved.of({ orderId, step })));
}

/** Returns `order/step` of each effect, in the order in which the events were handled. */
export async function effects(dataSource: Database, subscription: string): Promise<string[]> {
  const rows = await dataSource.query<{ effect: string }[]>(
    `SELECT format('%s/%s', order_id, step) AS effect FROM shop.effects WHERE subscription = $1 ORDER BY ordinal`,
    [subscription],
  );
  return rows.map(({ effect }) => effect);
}
