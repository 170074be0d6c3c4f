import { Column, PrimaryColumn } from 'typeorm';

/**
 * A stored idempotency key. A context extends it for a table in its own schema and names the column that holds the row's identifier:
 * `@Column('bigint', { name: 'pet_id' }) override rowId!: bigint`.
 */
export abstract class IdempotencyKeyEntity {
  /** No foreign key: clients belong to the context `access`. */
  @PrimaryColumn('bigint', { name: 'client_id' })
  clientId!: bigint;

  @PrimaryColumn('text')
  key!: string;

  abstract rowId: bigint;

  /** The values of the row in the first request, by property name. */
  @Column('jsonb')
  request!: object;

  /** Set by the database. */
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
