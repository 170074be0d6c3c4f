import type { Page, PageRequest } from '@animal-store/kernel';
import type { PetStatus, PetView } from './pet.js';

/** Selects pets that match all members. Undefined members are ignored. */
export interface PetFilter {
  readonly status?: PetStatus | undefined;
  readonly id?: bigint | undefined;
}

/** Reads rows of the catalogue, not aggregates. Results may be shared between callers. */
export abstract class PetReader {
  abstract find(id: bigint): Promise<PetView | undefined>;

  abstract list(filter: PetFilter, page: PageRequest): Promise<Page<PetView>>;
}
