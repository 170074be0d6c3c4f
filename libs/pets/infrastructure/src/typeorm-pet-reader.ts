import { BatchedRepository } from '@animal-store/database';
import type { Page, PageRequest } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import { type Pet, type PetFilter, PetReader } from '@animal-store/pets-domain';
import type { DataSource } from 'typeorm';
import { PetEntity } from './pet.entity.js';

export class TypeOrmPetReader extends PetReader implements PetCatalogue {
  private readonly pets: BatchedRepository<PetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.pets = new BatchedRepository(dataSource.getRepository(PetEntity));
  }

  override find(id: bigint): Promise<Pet | undefined> {
    return this.pets.findById(id);
  }

  async exists(id: bigint): Promise<boolean> {
    return (await this.find(id)) !== undefined;
  }

  override list(filter: PetFilter, page: PageRequest): Promise<Page<Pet>> {
    return filter.id === undefined ? this.pets.page(filter, page) : this.listById(filter.id, filter, page);
  }

  /** Reads one row by its primary key. Uses the same statement as `find`. */
  private async listById(id: bigint, { status }: PetFilter, { after }: PageRequest): Promise<Page<Pet>> {
    const pet = await this.pets.findById(id);
    const isListed = pet && (status === undefined || pet.status === status) && (after === undefined || id > after.id);
    return { items: isListed ? [pet] : [] };
  }
}
