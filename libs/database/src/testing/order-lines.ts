import { Column, Entity, type MigrationInterface, PrimaryGeneratedColumn, type QueryRunner } from 'typeorm';
import type { NewRow } from '../batching/batched-repository.js';
import { IdempotencyKeyEntity } from '../batching/idempotency-keys.js';
import type { Persistence } from '../persistence.js';

export enum Size {
  Small = 'small',
  Large = 'large',
  Odd = '"\\',
}

/** Has a column of every supported type, and names that SQL must quote. */
@Entity({ schema: 'shop', name: 'Order lines' })
export class OrderLineEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  key!: string;

  @Column('bigint', { name: 'client_id' })
  clientId!: bigint;

  @Column('integer')
  quantity!: number;

  @Column('smallint')
  priority!: number;

  @Column('boolean', { name: "is 'gift'" })
  isGift!: boolean;

  @Column({ type: 'timestamptz', name: 'due at', precision: 3 })
  dueAt!: Date;

  @Column('uuid')
  token!: string;

  @Column('varchar', { nullable: true })
  note!: string | null;

  @Column('bigint', { name: 'ordinal', nullable: true })
  ordinal!: bigint | null;

  @Column({ type: 'text', enum: Size })
  size!: Size;
}

@Entity({ schema: 'shop', name: 'order_line_keys' })
export class OrderLineKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'line_id' })
  override rowId!: bigint;
}

/** Returns the statement that creates a table for an `IdempotencyKeyEntity` whose `rowId` is in this column. */
export function createIdempotencyKeyTable(table: string, rowId: string): string {
  return `CREATE TABLE ${table} (
    client_id bigint, key text COLLATE "C", ${rowId} bigint NOT NULL, request jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (client_id, key)
  )`;
}

class CreateShop1763683200000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA shop');
    await queryRunner.query(`
      CREATE TABLE shop."Order lines" (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key text COLLATE "C" NOT NULL CONSTRAINT line_key_check CHECK (key <> 'broken'),
        client_id bigint NOT NULL, quantity integer NOT NULL, priority smallint NOT NULL, "is 'gift'" boolean NOT NULL, "due at" timestamptz(3) NOT NULL,
        token uuid NOT NULL, note varchar(300), ordinal bigint, size text COLLATE "C" NOT NULL
      )`);
    await queryRunner.query(createIdempotencyKeyTable('shop.order_line_keys', 'line_id'));
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP SCHEMA shop CASCADE');
  }
}

export const shop: Persistence = {
  schema: 'shop',
  entities: [OrderLineEntity, OrderLineKeyEntity],
  migrations: [CreateShop1763683200000],
};

export function aLine(overrides: Partial<NewRow<OrderLineEntity>> = {}): NewRow<OrderLineEntity> {
  return {
    key: 'first',
    clientId: 1n,
    quantity: 2,
    priority: 1,
    isGift: false,
    dueAt: new Date('2026-11-22T10:00:00.123Z'),
    token: '5a3c2e1d-0000-4000-8000-000000000001',
    note: null,
    ordinal: null,
    size: Size.Small,
    ...overrides,
  };
}
