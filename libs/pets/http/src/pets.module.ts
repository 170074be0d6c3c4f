import { defineContext, provideUseCase } from '@animal-store/http-kit';
import { CreatePet, GetPet, ListPets } from '@animal-store/pets-application';
import { PetCatalogue } from '@animal-store/pets-contract';
import { PetRepository } from '@animal-store/pets-domain';
import { petsPersistence, TypeOrmPetRepository } from '@animal-store/pets-infrastructure';
import { Global, Module } from '@nestjs/common';
import { PetsController } from './pets.controller.js';

@Global()
@Module({
  controllers: [PetsController],
  providers: [
    { provide: PetRepository, useClass: TypeOrmPetRepository },
    { provide: PetCatalogue, useExisting: PetRepository },
    provideUseCase(CreatePet, PetRepository),
    provideUseCase(GetPet, PetRepository),
    provideUseCase(ListPets, PetRepository),
  ],
  // What other contexts may inject.
  exports: [PetCatalogue],
})
class PetsModule {}

export const petsContext = defineContext({
  module: PetsModule,
  persistence: petsPersistence,
  scopes: ['pets:read', 'pets:write'],
  tag: { name: 'pets', description: 'The catalogue of animals.' },
  schemas: { Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } } },
});
