import { provideUseCase } from '@animal-store/http-contract';
import { CreatePet, GetPet, ListPets } from '@animal-store/pets-application';
import { PetReader, PetRepository } from '@animal-store/pets-domain';
import { petsPersistence, TypeOrmPetReader, TypeOrmPetRepository } from '@animal-store/pets-infrastructure';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PetsController } from './pets.controller.js';

@Module({
  controllers: [PetsController],
  providers: [
    { provide: PetRepository, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmPetRepository(dataSource) },
    { provide: PetReader, inject: [DataSource], useFactory: (dataSource: DataSource) => new TypeOrmPetReader(dataSource) },
    provideUseCase(CreatePet, PetRepository),
    provideUseCase(GetPet, PetReader),
    provideUseCase(ListPets, PetReader),
  ],
})
export class PetsModule {
  static readonly persistence = petsPersistence;
  static readonly scopes = ['pets:read', 'pets:write'] as const;
  static readonly tag = { name: 'pets', description: 'The catalogue of animals.' } as const;
  /** Named schemas of the OpenAPI document that have no class. */
  static readonly schemas = {
    Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
  } as const;
}
