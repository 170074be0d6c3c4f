import { IdempotencyKeyEntity } from '@animal-store/database';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'visits', name: 'treatments' })
export class TreatmentEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('bigint', { name: 'visit_id' })
  visitId!: bigint;

  @Column('text')
  name!: string;
}

@Entity({ schema: 'visits', name: 'treatment_idempotency_keys' })
export class TreatmentIdempotencyKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'treatment_id' })
  override rowId!: bigint;
}
