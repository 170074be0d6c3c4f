import { Batcher, isFaultOfStatement } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import { type CreatedPet, type IdempotencyKey, type NewPet, type Pet, PetRepository } from '@animal-store/pets-domain';
import { type KeyedPet, type PostgresPetRepository, replay } from './postgres-pet-repository.js';

const MOST_PETS = 128;

/**
 * Concurrent creations commit together; see `Batcher`. Those with a key go apart from those without, which never wait for them,
 * and repetitions that arrive while the first one is under way share its end.
 */
export class GroupedPetRepository extends PetRepository {
  private readonly additions: Batcher<NewPet, Pet>;
  private readonly keyedAdditions: Batcher<KeyedPet, CreatedPet | DomainError>;
  private readonly keysUnderWay = new Map<string, Promise<CreatedPet | DomainError>>();

  constructor(private readonly repository: PostgresPetRepository) {
    super();
    const options = { maxSize: MOST_PETS, isFaultOfOneItem: isFaultOfStatement };
    this.additions = new Batcher({ ...options, run: (pets) => repository.addAll(pets) });
    this.keyedAdditions = new Batcher({ ...options, run: (keyedPets) => repository.addAllOnce(keyedPets) });
  }

  override add(pet: NewPet): Promise<Pet> {
    return this.additions.submit(pet);
  }

  override async addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet> {
    const name = `${String(key.clientId)} ${key.key}`;
    const underWay = this.keysUnderWay.get(name);
    if (underWay) {
      const first = await underWay;
      // After a refusal the key stands for another pet, which may be this one.
      return first instanceof DomainError ? this.addOnce(pet, key) : orThrow(replay(pet, first.pet));
    }
    const created = this.keyedAdditions.submit({ pet, key }).finally(() => this.keysUnderWay.delete(name));
    this.keysUnderWay.set(name, created);
    return orThrow(await created);
  }

  override forgetKeys(before: Date, limit: number): Promise<number> {
    return this.repository.forgetKeys(before, limit);
  }
}

function orThrow(result: CreatedPet | DomainError): CreatedPet {
  if (result instanceof DomainError) throw result;
  return result;
}
