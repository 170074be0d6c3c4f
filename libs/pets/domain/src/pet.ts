import { DomainError, INT64_RULE, isInt64, isVisibleText, visibleTextRule } from '@animal-store/kernel';
import { INVALID_PET } from './pet-errors.js';

export enum PetStatus {
  Available = 'available',
  Pending = 'pending',
  Sold = 'sold',
}

export const PET_STATUSES: readonly PetStatus[] = Object.values(PetStatus);

export const DEFAULT_PET_STATUS = PetStatus.Available;

export const PET_STATUS_RULE = `must be one of ${PET_STATUSES.join(', ')}`;

function isPetStatus(value: unknown): value is PetStatus {
  return (PET_STATUSES as readonly unknown[]).includes(value);
}

/** In Unicode code points. */
export const PET_NAME_MAX_LENGTH = 255;

const PET_NAME_RULE = visibleTextRule(PET_NAME_MAX_LENGTH);

export function isPetName(value: unknown): value is string {
  return isVisibleText(value, PET_NAME_MAX_LENGTH);
}

/** A client's input, not validated. */
export interface NewPetInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string | undefined;
}

/** A pet that is not stored yet, and has no identifier. */
export class NewPet {
  private constructor(
    readonly name: string,
    /** A category of another service. Its existence is not checked. */
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}

  /** @throws DomainError INVALID_PET, naming every invalid field and its rule */
  static create({ name, categoryId, status = DEFAULT_PET_STATUS }: NewPetInput): NewPet {
    if (isPetName(name) && isInt64(categoryId) && isPetStatus(status)) return new NewPet(name, categoryId, status);
    const violations = [
      ...(isPetName(name) ? [] : [`name ${PET_NAME_RULE}`]),
      ...(isInt64(categoryId) ? [] : [`categoryId ${INT64_RULE}`]),
      ...(isPetStatus(status) ? [] : [`status ${PET_STATUS_RULE}`]),
    ];
    throw new DomainError(INVALID_PET, violations.join('; '));
  }
}

/** An animal of the catalogue. The database's constraints enforce the rules of `NewPet.create`. */
export interface Pet extends NewPet {
  /** Assigned when the pet is stored, and never reused. Any int64. */
  readonly id: bigint;
}
