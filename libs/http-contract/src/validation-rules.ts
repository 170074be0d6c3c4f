import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { ValidateBy, ValidateIf } from 'class-validator';

/** A rule of one member or parameter; in the error its name goes before `text`. */
export function Rule(text: string, holds: (value: unknown, object: object) => boolean): PropertyDecorator {
  return ValidateBy({
    name: text,
    validator: { validate: (value, args) => holds(value, args?.object ?? {}), defaultMessage: () => `$property ${text}` },
  });
}

/** May be absent. Unlike class-validator's IsOptional, `null` is not absent. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

/** A query parameter of decimal digits without leading zeros, read as a number. */
export function QueryInteger({ minimum, maximum }: { minimum: number; maximum: number }): PropertyDecorator {
  const digits = /^(?:0|[1-9][0-9]{0,14})$/;
  return applyDecorators(
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' && digits.test(value) ? Number(value) : value)),
    Rule(
      `must be an integer from ${String(minimum)} to ${String(maximum)}`,
      (value) => typeof value === 'number' && value >= minimum && value <= maximum,
    ),
  );
}
