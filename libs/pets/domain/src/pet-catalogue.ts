import type { JsonText } from '@animal-store/kernel';
import type { PetView } from './pet.js';
import type { PetId } from './pet-id.js';
import type { PetStatus } from './pet-status.js';

export const MAX_PAGE_LENGTH = 100;

export interface PetListQuery {
  /** At most so many pets, from 1 to MAX_PAGE_LENGTH. */
  readonly limit: number;
  /** Only pets of this status. */
  readonly status?: PetStatus | undefined;
  /** Only pets with a greater identifier. */
  readonly after?: PetId | undefined;
}

export interface PetPage {
  /** The array of pets in ascending order of `id`, as clients read it: nobody on its way looks into it. */
  readonly pets: JsonText;
  /** The last pet of this page, exactly when a further one exists. */
  readonly next?: PetId;
}

/** The read side of the catalogue: plain rows and pages of them, no aggregates. Answers may be shared between callers. */
export abstract class PetCatalogue {
  abstract find(id: PetId): Promise<PetView | undefined>;

  abstract list(query: PetListQuery): Promise<PetPage>;
}
