import { PetStatus } from '@animal-store/pets-domain';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'pets', name: 'pets' })
export class PetEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;

  @Column('bigint', { name: 'category_id' })
  categoryId!: bigint;

  @Column({ type: 'text', enum: PetStatus })
  status!: PetStatus;
}
