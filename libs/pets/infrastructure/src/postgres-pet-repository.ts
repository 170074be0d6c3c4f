import { type NewPet, Pet, PetRepository } from '@animal-store/pets-domain';
import type { DataSource, Repository } from 'typeorm';
import { PetEntity } from './pet.entity.js';

export class PostgresPetRepository extends PetRepository {
  private readonly entities: Repository<PetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.entities = dataSource.getRepository(PetEntity);
  }

  override async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    // insert(), not save(): save selects before it writes.
    const { identifiers } = await this.entities.insert({ name, categoryId, status });
    const { id } = identifiers[0] as { id: bigint };
    return Pet.rehydrate({ id, name, categoryId, status });
  }
}
