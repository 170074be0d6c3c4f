import { Column, PrimaryColumn } from 'typeorm';

/**
 * One remembered request. A context extends it by a table in its own schema, and says which column holds the identifier of the row:
 * `@Column('bigint', { name: 'pet_id' }) override rowId!: bigint`.
 */
export abstract class IdempotencyKeyEntity {
  /** By value: clients belong to the context access. */
  @PrimaryColumn('bigint', { name: 'client_id' })
  clientId!: bigint;

  @PrimaryColumn('text')
  key!: string;

  abstract rowId: bigint;

  /** The columns of the row as they were asked for, by their names in the entity. */
  @Column('jsonb')
  request!: object;

  /** By the clock of the database. */
  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  createdAt!: Date;
}
