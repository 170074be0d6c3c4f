import type { PetStatus } from '@animal-store/pets-domain';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'pets', name: 'pets' })
export class PetEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;

  @Column('bigint', { name: 'category_id' })
  categoryId!: bigint;

  @Column('text')
  status!: PetStatus;
}
