import { DomainError, INT64_RULE, isInt64 } from '@animal-store/kernel';
import { INVALID_PET } from './pet-errors.js';
import { isPetName, PET_NAME_RULE } from './pet-name.js';
import { DEFAULT_PET_STATUS, isPetStatus, PET_STATUS_RULE, type PetStatus } from './pet-status.js';

/** What a client says of a pet, unchecked. */
export interface NewPetInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string | undefined;
}

/** A pet that the store has not numbered yet. */
export class NewPet {
  private constructor(
    readonly name: string,
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}

  /** @throws DomainError INVALID_PET, naming every offending field and its rule */
  static create({ name, categoryId, status = DEFAULT_PET_STATUS }: NewPetInput): NewPet {
    if (isPetName(name) && isInt64(categoryId) && isPetStatus(status)) return new NewPet(name, categoryId, status);
    const violations = [
      ...(isPetName(name) ? [] : [`name ${PET_NAME_RULE}`]),
      ...(isInt64(categoryId) ? [] : [`categoryId ${INT64_RULE}`]),
      ...(isPetStatus(status) ? [] : [`status ${PET_STATUS_RULE}`]),
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
    /** Assigned by the store, never reused; any int64. */
    readonly id: bigint,
    readonly name: string,
    /** A category of another service, by value: whether it exists is not checked here. */
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}

  /** Trusts the store: its constraints hold what `NewPet.create` checked. */
  static rehydrate({ id, name, categoryId, status }: PetView): Pet {
    return new Pet(id, name, categoryId, status);
  }
}

/** A pet as a reader sees it: a row of the catalogue, no aggregate. */
export type PetView = { readonly [Field in keyof Pet]: Pet[Field] };
