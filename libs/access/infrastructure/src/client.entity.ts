import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'access', name: 'clients' })
export class ClientEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;

  @Column({ type: 'timestamptz', name: 'created_at', precision: 3 })
  createdAt!: Date;
}
