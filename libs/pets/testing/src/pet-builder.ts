import { NewPet, type NewPetInput } from '@animal-store/pets-domain';

export function aNewPet(overrides: Partial<NewPetInput> = {}): NewPet {
  return NewPet.create({ name: 'Rex', categoryId: 1n, ...overrides });
}
