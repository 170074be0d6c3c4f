import { IdempotencyKeyEntity } from '@animal-store/database';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'visits', name: 'visits' })
export class VisitEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;
}

@Entity({ schema: 'visits', name: 'idempotency_keys' })
export class VisitIdempotencyKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'visit_id' })
  override rowId!: bigint;
}
