import { DomainError } from '@animal-store/kernel';
import { INVALID_PET } from './pet-errors.js';
import { type CategoryId, INT64_RULE, isCategoryId, type PetId } from './pet-id.js';
import { isPetName, PET_NAME_RULE, type PetName } from './pet-name.js';
import { DEFAULT_PET_STATUS, isPetStatus, PET_STATUSES, type PetStatus } from './pet-status.js';

/** What a client says of a pet, unchecked. */
export interface NewPetInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string | undefined;
}

/** A pet that the store has not numbered yet. */
export class NewPet {
  private constructor(
    readonly name: PetName,
    readonly categoryId: CategoryId,
    readonly status: PetStatus,
  ) {}

  /** @throws DomainError INVALID_PET, naming every offending field and its rule */
  static create({ name, categoryId, status = DEFAULT_PET_STATUS }: NewPetInput): NewPet {
    if (isPetName(name) && isCategoryId(categoryId) && isPetStatus(status)) return new NewPet(name, categoryId, status);
    const violations = [
      ...(isPetName(name) ? [] : [`name ${PET_NAME_RULE}`]),
      ...(isCategoryId(categoryId) ? [] : [`categoryId ${INT64_RULE}`]),
      ...(isPetStatus(status) ? [] : [`status must be one of ${PET_STATUSES.join(', ')}`]),
    ];
    throw new DomainError(INVALID_PET, violations.join('; '));
  }

  /** Whether the other says the same of a pet. */
  equals({ name, categoryId, status }: Omit<PetView, 'id'>): boolean {
    return this.name === name && this.categoryId === categoryId && this.status === status;
  }
}

/** An animal of the catalogue. */
export class Pet {
  private constructor(
    readonly id: PetId,
    readonly name: PetName,
    readonly categoryId: CategoryId,
    readonly status: PetStatus,
  ) {}

  /** Trusts the store: its constraints hold what `NewPet.create` checked. */
  static rehydrate({ id, name, categoryId, status }: PetView): Pet {
    return new Pet(id as PetId, name as PetName, categoryId as CategoryId, status as PetStatus);
  }
}

/** A row of the catalogue as a reader sees it. */
export interface PetView {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}
