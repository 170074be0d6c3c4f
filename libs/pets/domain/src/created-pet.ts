import { DomainError } from '@animal-store/kernel';
import type { NewPet, Pet } from './pet.js';
import { IDEMPOTENCY_KEY_REUSED } from './pet-errors.js';

export interface CreatedPet {
  readonly pet: Pet;
  /** The pet was created by an earlier request with the same key. */
  readonly replayed: boolean;
}

/**
 * What a request is answered with whose Idempotency-Key stands for a pet already.
 * @throws DomainError IDEMPOTENCY_KEY_REUSED when it asks for a different one
 */
export function replay(repeated: NewPet, recorded: Pet): CreatedPet {
  if (!repeated.equals(recorded)) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
  return { pet: recorded, replayed: true };
}
