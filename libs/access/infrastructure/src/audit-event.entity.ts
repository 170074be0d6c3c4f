import type { AuditEvent } from '@animal-store/access-domain';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'access', name: 'audit_events' })
export class AuditEventEntity implements AuditEvent {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  /** Set by the database, like the next column. */
  @Column({ type: 'timestamptz', name: 'occurred_at', insert: false })
  occurredAt!: Date;

  @Column({ type: 'text', name: 'database_role', insert: false })
  databaseRole!: string;

  @Column('text')
  operator!: string;

  @Column('text')
  action!: string;

  @Column('bigint', { name: 'client_id' })
  clientId!: bigint;

  @Column('text', { name: 'client_name' })
  clientName!: string;

  @Column({ type: 'bigint', name: 'key_id', nullable: true })
  keyId!: bigint | null;

  @Column({ type: 'text', name: 'key_prefix', nullable: true })
  keyPrefix!: string | null;

  @Column('json')
  details!: object;
}
