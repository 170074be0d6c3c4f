import { IdempotencyKeyEntity } from '@animal-store/database';
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

@Entity({ schema: 'pets', name: 'idempotency_keys' })
export class PetIdempotencyKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'pet_id' })
  override rowId!: bigint;
}
