import { AuthenticationModule, EventsModule, JobsModule } from '@animal-store/api/contexts';
import { serve } from '@animal-store/api/serve';
import { BatchedRepository, throwConstraintErrors } from '@animal-store/database';
import { type CreatedPet, type NewPet, Pet, PetRepository } from '@animal-store/pets-domain';
import { PetsModule } from '@animal-store/pets-http';
import { petsPersistence } from '@animal-store/pets-infrastructure';
import { Module } from '@nestjs/common';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { UNIQUE_PETS } from '../workloads.js';

/** The service with a context `pets` in which no two pets have the same name and category. */
@Entity({ schema: 'pets', name: 'pets' })
@Unique(UNIQUE_PETS, ['name', 'categoryId'])
class UniquePetEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;

  @Column('bigint', { name: 'category_id' })
  categoryId!: bigint;

  @Column('text')
  status!: Pet['status'];
}

const throwDomainErrors = throwConstraintErrors({
  [UNIQUE_PETS]: { code: 'pet_exists', kind: 'conflict', message: 'Another pet has this name and category.' },
});

class UniquePets extends PetRepository {
  private readonly pets: BatchedRepository<UniquePetEntity>;

  constructor(dataSource: DataSource) {
    super();
    this.pets = new BatchedRepository(dataSource.getRepository(UniquePetEntity));
  }

  override async add(pet: NewPet): Promise<Pet> {
    return Pet.rehydrate(await this.pets.insert(pet).catch(throwDomainErrors));
  }

  override addOnce(): Promise<CreatedPet> {
    throw new Error('The bench sends no idempotency keys.');
  }
}

const partsOf = (key: string) => Reflect.getMetadata(key, PetsModule) as object[];

@Module({
  controllers: partsOf('controllers') as never[],
  providers: [
    ...(partsOf('providers') as never[]),
    { provide: PetRepository, inject: [DataSource], useFactory: (dataSource: DataSource) => new UniquePets(dataSource) },
  ],
  exports: partsOf('exports') as never[],
})
class UniquePetsModule {
  static readonly persistence = { ...petsPersistence, entities: [...petsPersistence.entities, UniquePetEntity] };
  static readonly scopes = PetsModule.scopes;
  static readonly tag = PetsModule.tag;
  static readonly schemas = PetsModule.schemas;
}

await serve(process.env, undefined, {
  contexts: [AuthenticationModule, EventsModule, JobsModule, UniquePetsModule],
  main: import.meta.filename,
});
