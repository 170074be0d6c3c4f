import { CreatePet, ForgetIdempotencyKeys, GetPet, ListPets } from '@animal-store/pets-application';
import { Clock } from '@animal-store/kernel';
import { PetCatalogue, PetRepository } from '@animal-store/pets-domain';
import {
  GroupedPetRepository,
  petsPersistence,
  PostgresPetCatalogue,
  PostgresPetRepository,
  SharedPetCatalogue,
} from '@animal-store/pets-infrastructure';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IdempotencyKeyCleaner } from './idempotency-key-cleaner.js';
import { PetsController } from './pets.controller.js';

@Module({
  controllers: [PetsController],
  providers: [
    {
      provide: PetRepository,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => new GroupedPetRepository(new PostgresPetRepository(dataSource)),
    },
    {
      provide: PetCatalogue,
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => new SharedPetCatalogue(new PostgresPetCatalogue(dataSource)),
    },
    { provide: CreatePet, inject: [PetRepository], useFactory: (pets: PetRepository) => new CreatePet(pets) },
    {
      provide: ForgetIdempotencyKeys,
      inject: [PetRepository, Clock],
      useFactory: (pets: PetRepository, clock: Clock) => new ForgetIdempotencyKeys(pets, clock),
    },
    IdempotencyKeyCleaner,
    { provide: GetPet, inject: [PetCatalogue], useFactory: (catalogue: PetCatalogue) => new GetPet(catalogue) },
    { provide: ListPets, inject: [PetCatalogue], useFactory: (catalogue: PetCatalogue) => new ListPets(catalogue) },
  ],
})
export class PetsModule {
  static readonly persistence = petsPersistence;
  static readonly scopes = ['pets:read', 'pets:write'] as const;
  static readonly tag = { name: 'pets', description: 'The catalogue of animals.' } as const;
  /** Named schemas of the OpenAPI document that no class stands for. */
  static readonly schemas = {
    Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
  } as const;
}
