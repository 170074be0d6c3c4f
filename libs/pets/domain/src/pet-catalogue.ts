import type { PetView } from './pet.js';
import type { PetId } from './pet-id.js';
import type { PetStatus } from './pet-status.js';

export interface PetListQuery {
  /** At most so many pets. */
  readonly limit: number;
  /** Only pets of this status. */
  readonly status?: PetStatus | undefined;
  /** Only pets with a greater identifier. */
  readonly after?: PetId | undefined;
}

export interface PetPage {
  /** In ascending order of `id`. */
  readonly pets: readonly PetView[];
  /** The last pet of this page, exactly when a further one exists. */
  readonly next?: PetId;
}

/** The read side of the catalogue: plain rows, no aggregates. Answers may be shared between callers. */
export abstract class PetCatalogue {
  abstract find(id: PetId): Promise<PetView | undefined>;

  abstract list(query: PetListQuery): Promise<PetPage>;
}

/** The page that begins with these pets, of which one more than `limit` was asked for. */
export function petPage(found: readonly PetView[], limit: number): PetPage {
  if (found.length <= limit) return { pets: found };
  const pets = found.slice(0, limit);
  return { pets, next: pets.at(-1)?.id as PetId };
}
