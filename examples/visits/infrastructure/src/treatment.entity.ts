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
