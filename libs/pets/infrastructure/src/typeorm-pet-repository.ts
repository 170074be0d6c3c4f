import { BatchedRepository } from '@animal-store/database';
import { assertSameRequest, type IdempotencyKey, type Outcome } from '@animal-store/kernel';
import { type NewPet, type Pet, PetRepository } from '@animal-store/pets-domain';
import type { DataSource } from 'typeorm';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

export class TypeOrmPetRepository extends PetRepository {
  private readonly pets: BatchedRepository<PetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.pets = new BatchedRepository(dataSource.getRepository(PetEntity), dataSource.getRepository(PetIdempotencyKeyEntity));
  }

  override add(pet: NewPet): Promise<Pet> {
    return this.pets.insert(pet);
  }

  override async addOnce(pet: NewPet, key: IdempotencyKey): Promise<Outcome<Pet>> {
    const { row, request, replayed } = await this.pets.insertOnce(pet, key);
    if (replayed) assertSameRequest(pet, request);
    return { result: row, replayed };
  }
}
