import type { Pet } from './pet.js';

/** What makes repetitions of one creation recognisable: a key that its client chose. */
export interface IdempotencyKey {
  /** The client, not its API key: a rotation changes nothing. */
  readonly clientId: bigint;
  readonly key: string;
}

export interface CreatedPet {
  readonly pet: Pet;
  /** The pet was created by an earlier request with the same key. */
  readonly replayed: boolean;
}
