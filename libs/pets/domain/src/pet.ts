import { DomainError, IDEMPOTENCY_KEY_REUSED, INT64_RULE, isInt64 } from '@animal-store/kernel';
import { INVALID_PET } from './pet-errors.js';
import { DEFAULT_PET_STATUS, isPetStatus, PET_STATUS_RULE, type PetStatus } from './pet-status.js';

/** In Unicode code points. */
export const PET_NAME_MAX_LENGTH = 255;

export const PET_NAME_RULE = `must be a string of 1 to ${String(PET_NAME_MAX_LENGTH)} characters with at least one that is not white space, and without U+0000 and unpaired surrogates`;

/** The Unicode property White_Space, in a form that all regular expression dialects support. */
const WHITE_SPACE = '\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const FORBIDDEN = '\\u0000\\ud800-\\udfff';
/** For dialects that match UTF-16 units instead of code points. */
const PAIR = '[\\ud800-\\udbff][\\udc00-\\udfff]';

/** The characters that PET_NAME_RULE allows. Published in the OpenAPI document. */
export const PET_NAME_PATTERN = `^[${WHITE_SPACE}]*(?:[^${WHITE_SPACE}${FORBIDDEN}]|${PAIR})(?:[^${FORBIDDEN}]|${PAIR})*$`;
const PET_NAME = new RegExp(PET_NAME_PATTERN);

export function isPetName(value: unknown): value is string {
  return typeof value === 'string' && hasAtMostCodePoints(value, PET_NAME_MAX_LENGTH) && PET_NAME.test(value);
}

function hasAtMostCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return true;
  // A code point takes one or two UTF-16 units.
  return text.length <= 2 * max && Array.from(text).length <= max;
}

/** A client's input, not validated. */
export interface NewPetInput {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string | undefined;
}

/** A pet without an identifier, which the store assigns. */
export class NewPet {
  private constructor(
    readonly name: string,
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

  /**
   * Checks that an Idempotency-Key was not used for a different pet.
   * @throws DomainError IDEMPOTENCY_KEY_REUSED if the pets differ
   */
  assertSameAs({ name, categoryId, status }: Pet): void {
    const isSame = this.name === name && this.categoryId === categoryId && this.status === status;
    if (!isSame) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
  }
}

/** An animal of the catalogue. */
export class Pet {
  private constructor(
    /** Assigned by the store and never reused. Any int64. */
    readonly id: bigint,
    readonly name: string,
    /** A category of another service. Its existence is not checked. */
    readonly categoryId: bigint,
    readonly status: PetStatus,
  ) {}

  /** Creates a pet from a stored row without validation: the database's constraints enforce the rules of `NewPet.create`. */
  static rehydrate({ id, name, categoryId, status }: PetView): Pet {
    return new Pet(id, name, categoryId, status);
  }
}

/** A pet as a row of the catalogue, not an aggregate. */
export type PetView = { readonly [Field in keyof Pet]: Pet[Field] };
