import type { ApiKey } from '@animal-store/access-domain';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { ClientEntity } from './client.entity.js';

@Entity({ schema: 'access', name: 'api_keys' })
@Unique('api_keys_hash_key', ['hash'])
export class ApiKeyEntity implements ApiKey {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @ManyToOne(() => ClientEntity, { nullable: false })
  @JoinColumn({ name: 'client_id' })
  client!: ClientEntity;

  @Column('bytea', { select: false })
  hash!: Buffer;

  @Column('text')
  prefix!: string;

  @Column('text', { array: true })
  scopes!: string[];

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;

  @Column({ type: 'timestamptz', name: 'expires_at', precision: 3, nullable: true })
  expiresAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', precision: 3, nullable: true })
  revokedAt!: Date | null;

  @Column({ type: 'timestamptz', name: 'last_used_at', precision: 3, nullable: true })
  lastUsedAt!: Date | null;
}
