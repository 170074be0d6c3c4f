import type { Client } from '@animal-store/access-domain';
import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

@Entity({ schema: 'access', name: 'clients' })
@Unique('clients_name_key', ['name'])
export class ClientEntity implements Client {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;

  @Column({ type: 'integer', name: 'rate_limit', nullable: true })
  rateLimit!: number | null;

  @Column({ type: 'timestamptz', name: 'disabled_at', precision: 3, nullable: true })
  disabledAt!: Date | null;
}
