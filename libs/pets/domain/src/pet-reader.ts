import type { Page, PageRequest } from '@animal-store/kernel';
import type { PetView } from './pet.js';
import type { PetStatus } from './pet-status.js';

/** A pet must match every member. What is undefined filters nothing. */
export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly id?: bigint | undefined;
}

/** Reads the catalogue: rows and pages of them, no aggregates. Answers may be shared between callers. */
export abstract class PetReader {
  abstract find(id: bigint): Promise<PetView | undefined>;

  abstract list(filter: PetFilter, page: PageRequest): Promise<Page<PetView>>;
}
