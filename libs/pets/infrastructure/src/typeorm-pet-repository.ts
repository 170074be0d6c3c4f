import { BatchedRepository } from '@animal-store/database';
import type { IdempotencyKey, Outcome, Page, PageRequest } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import type { NewPet, Pet, PetFilter, PetRepository } from '@animal-store/pets-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PetEntity, PetIdempotencyKeyEntity } from './pet.entity.js';

@Injectable()
export class TypeOrmPetRepository implements PetRepository, PetCatalogue {
  private readonly pets: BatchedRepository<PetEntity>;

  constructor(dataSource: DataSource) {
    this.pets = new BatchedRepository(dataSource.getRepository(PetEntity), dataSource.getRepository(PetIdempotencyKeyEntity));
  }

  add(pet: NewPet, key?: IdempotencyKey): Promise<Outcome<Pet>> {
    return this.pets.add(pet, key);
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.pets.findById(id);
  }

  async exists(id: bigint): Promise<boolean> {
    return (await this.find(id)) !== undefined;
  }

  findByIds(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, Pet>> {
    return this.pets.findByIds(ids);
  }

  list(filter: PetFilter, page: PageRequest): Promise<Page<Pet>> {
    return filter.id === undefined ? this.pets.page(filter, page) : this.listById(filter.id, filter, page);
  }

  /** Reads one row by its primary key. Uses the same statement as `find`. */
  private async listById(id: bigint, { status }: PetFilter, { after }: PageRequest): Promise<Page<Pet>> {
    const pet = await this.pets.findById(id);
    const isListed = pet && (status === undefined || pet.status === status) && (after === undefined || id > after.id);
    return { items: isListed ? [pet] : [] };
  }
}
