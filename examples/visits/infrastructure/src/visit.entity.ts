import { IdempotencyKeyEntity } from '@animal-store/database';
import { VisitStatus } from '@animal-store/visits-domain';
import { Column, Entity, Exclusion, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'visits', name: 'visits' })
// The columns in the order of the constraint, which a batch of inserts follows.
@Exclusion('visits_no_overlap', 'pet_id, starts_at')
export class VisitEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('bigint', { name: 'pet_id' })
  petId!: bigint;

  @Column({ type: 'timestamptz', name: 'starts_at', precision: 3 })
  startsAt!: Date;

  @Column('smallint', { name: 'duration_minutes' })
  durationMinutes!: number;

  @Column({ type: 'text', enum: VisitStatus })
  status!: VisitStatus;

  @Column('text')
  reason!: string;

  @Column('text', { nullable: true })
  notes!: string | null;
}

@Entity({ schema: 'visits', name: 'idempotency_keys' })
export class VisitIdempotencyKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'visit_id' })
  override rowId!: bigint;
}

@Entity({ schema: 'visits', name: 'days' })
export class VisitDayEntity {
  @PrimaryColumn('text')
  day!: string;

  @Column('integer')
  visits!: number;
}

@Entity({ schema: 'visits', name: 'reports' })
export class ReportEntity {
  @PrimaryColumn('bigint', { name: 'visit_id' })
  visitId!: bigint;

  @Column('bytea')
  pdf!: Uint8Array;
}
