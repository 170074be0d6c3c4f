import { BatchedRepository } from '@animal-store/database';
import type { IdempotencyKey } from '@animal-store/kernel';
import { type CreatedPet, type NewPet, Pet, PetRepository } from '@animal-store/pets-domain';
import type { DataSource } from 'typeorm';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

export class TypeOrmPetRepository extends PetRepository {
  private readonly pets: BatchedRepository<PetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.pets = new BatchedRepository(dataSource.getRepository(PetEntity), dataSource.getRepository(PetIdempotencyKeyEntity));
  }

  override async add(pet: NewPet): Promise<Pet> {
    return Pet.rehydrate(await this.pets.insert(pet));
  }

  override async addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet> {
    const { row, request, replayed } = await this.pets.insertOnce(pet, key);
    if (replayed) pet.assertSameAs(request);
    return { pet: Pet.rehydrate(row), replayed };
  }
}
