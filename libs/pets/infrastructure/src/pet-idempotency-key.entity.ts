import { IdempotencyKeyEntity } from '@animal-store/database';
import { Column, Entity } from 'typeorm';

@Entity({ schema: 'pets', name: 'idempotency_keys' })
export class PetIdempotencyKeyEntity extends IdempotencyKeyEntity {
  @Column('bigint', { name: 'pet_id' })
  override rowId!: bigint;
}
