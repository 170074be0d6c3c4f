import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ schema: 'visits', name: 'days' })
export class VisitDayEntity {
  @PrimaryColumn('text')
  day!: string;

  @Column('integer')
  visits!: number;
}
