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

/** The read side of the catalogue: plain rows, no aggregates. */
export abstract class PetCatalogue {
  abstract find(id: PetId): Promise<PetView | undefined>;

  /** In ascending order of `id`. */
  abstract list(query: PetListQuery): Promise<readonly PetView[]>;
}
