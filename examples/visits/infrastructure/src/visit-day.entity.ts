import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'visits', name: 'days' })
export class VisitDayEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  day!: string;

  @Column('integer')
  visits!: number;
}
