import { INT64_RULE, isInt64, parseInt64 } from '@animal-store/kernel';
import { ValidateBy, ValidateIf } from 'class-validator';

/** The rule that a decorator in this file sets, stored as the `context` of the member's class-validator metadata. */
export class MemberRule {
  /**
   * @param isValid The predicate; without one, the member may be absent.
   * @param parse Converts the received value before the predicate runs.
   */
  constructor(
    readonly isValid?: (value: unknown, object: object) => boolean,
    readonly parse?: (value: unknown) => unknown,
  ) {}
}

/** Requires that a predicate is true for the member. The error message is the member's name followed by `text`. */
export function Rule(
  text: string,
  isValid: (value: unknown, object: object) => boolean,
  parse?: (value: unknown) => unknown,
): PropertyDecorator {
  return ValidateBy(
    {
      name: text,
      validator: { validate: (value, args) => isValid(value, args?.object ?? {}), defaultMessage: () => `$property ${text}` },
    },
    { context: new MemberRule(isValid, parse) },
  );
}

/** Allows the member to be absent. Unlike class-validator's `IsOptional`, it does not allow `null`. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined, { context: new MemberRule() });
}

/** Parses a query parameter of decimal digits without leading zeros as a number. */
export function QueryInteger({ minimum, maximum }: { minimum: number; maximum: number }): PropertyDecorator {
  const digits = /^(?:0|[1-9][0-9]{0,14})$/;
  return Rule(
    `must be an integer from ${String(minimum)} to ${String(maximum)}`,
    (value) => typeof value === 'number' && value >= minimum && value <= maximum,
    (value) => (typeof value === 'string' && digits.test(value) ? Number(value) : value),
  );
}

/** Parses a query parameter of decimal digits without leading zeros as an exact 64-bit integer. A minus sign may precede the digits. */
export function QueryInt64(): PropertyDecorator {
  return Rule(INT64_RULE, isInt64, (value) => (typeof value === 'string' ? (parseInt64(value) ?? value) : value));
}
