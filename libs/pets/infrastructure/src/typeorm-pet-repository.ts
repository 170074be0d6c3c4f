import { BatchedRepository } from '@animal-store/database';
import type { IdempotencyKey } from '@animal-store/kernel';
import { type CreatedPet, type NewPet, Pet, PetRepository, replay } from '@animal-store/pets-domain';
import type { DataSource } from 'typeorm';
import { PetEntity } from './pet.entity.js';
import { PetIdempotencyKeyEntity } from './pet-idempotency-key.entity.js';

export class TypeOrmPetRepository extends PetRepository {
  private readonly pets: BatchedRepository<PetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.pets = new BatchedRepository(dataSource.getRepository(PetEntity), dataSource.getRepository(PetIdempotencyKeyEntity));
  }

  override async add(pet: NewPet): Promise<Pet> {
    return Pet.rehydrate({ id: await this.pets.insert(pet), ...pet });
  }

  override async addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet> {
    const { id, row, replayed } = await this.pets.insertOnce(pet, key);
    const recorded = Pet.rehydrate({ id, ...row });
    return replayed ? replay(pet, recorded) : { pet: recorded, replayed };
  }
}
