import { DomainError, isVisibleText, visibleTextRule } from '@animal-store/kernel';
import { INVALID_TREATMENT } from './treatment-errors.js';

/** In Unicode code points. */
export const TREATMENT_NAME_MAX_LENGTH = 200;

/** A client's input and the visit of the URL, not validated. */
export interface NewTreatmentInput {
  readonly visitId: bigint;
  readonly name: string;
}

/** A treatment that is not stored yet, and has no identifier. */
export class NewTreatment {
  private constructor(
    readonly visitId: bigint,
    readonly name: string,
  ) {}

  /** @throws DomainError INVALID_TREATMENT */
  static create({ visitId, name }: NewTreatmentInput): NewTreatment {
    if (!isVisibleText(name, TREATMENT_NAME_MAX_LENGTH))
      throw new DomainError(INVALID_TREATMENT, `name ${visibleTextRule(TREATMENT_NAME_MAX_LENGTH)}`);
    return new NewTreatment(visitId, name);
  }
}

/** What was done at a visit. */
export interface Treatment extends NewTreatment {
  readonly id: bigint;
}
