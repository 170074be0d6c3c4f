import {
  DomainError,
  type ErrorDefinition,
  INT64_RULE,
  isInt64,
  isUtcTime,
  isVisibleText,
  parseInt64,
  parseUtcTime,
  UTC_TIME_RULE,
  visibleTextRule,
} from '@animal-store/kernel';
import { applyDecorators, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam, ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { documented } from './routes.js';

/** A rule of the domain: the `context` of the metadata of its decorator. */
export class DomainRule {
  constructor(
    readonly isValid: (value: unknown, object: object) => boolean,
    readonly convert: ((value: unknown) => unknown) | undefined,
  ) {}
}

/**
 * Returns a decorator for a rule of the domain: `const IsOrderQuantity = () => Rule(ORDER_QUANTITY_RULE, isOrderQuantity)`. The error
 * message is the member's name followed by `text`.
 * @param isValid the predicate; its second argument is the object with the member
 * @param convert converts the received value before the predicate runs. Returns a value that it cannot convert unchanged, so that the
 * predicate rejects it. A member can have one rule with it.
 * @param textFor returns a text that depends on the value
 */
export function Rule(
  text: string,
  isValid: (value: unknown, object: object) => boolean,
  convert?: (value: unknown) => unknown,
  textFor = (_value: unknown) => text,
): PropertyDecorator {
  return ValidateBy(
    {
      name: text,
      validator: {
        validate: (value, args) => isValid(value, args?.object ?? {}),
        defaultMessage: (args) => `$property ${textFor(args?.value)}`,
      },
    },
    { context: new DomainRule(isValid, convert) },
  );
}

/** Allows the member to be absent. Unlike class-validator's `IsOptional`, it does not allow `null`. */
export const MayBeAbsent = (): PropertyDecorator => ValidateIf((_object, value) => value !== undefined);

/** Allows the member to be `null`, and documents that. The member must be present, unless it also has `@MayBeAbsent()`. */
export const Nullable = (): PropertyDecorator =>
  applyDecorators(
    ValidateIf((_object, value) => value !== null),
    ApiProperty({ nullable: true }),
  );

const WITH_ALL_DIGITS = `${INT64_RULE}; beyond 2^53 it must not have a fraction or an exponent, because such a number has lost digits`;

/** Requires an exact 64-bit integer in a body. */
export const IsInt64 = (): PropertyDecorator =>
  Rule(INT64_RULE, isInt64, undefined, (value) => (typeof value === 'number' && Math.abs(value) >= 2 ** 53 ? WITH_ALL_DIGITS : INT64_RULE));

/** Requires a string that PostgreSQL stores unchanged, with a visible character. The length is in Unicode code points. */
export const IsVisibleText = (maxLength: number): PropertyDecorator =>
  Rule(visibleTextRule(maxLength), (value) => isVisibleText(value, maxLength));

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
export const QueryInt64 = (): PropertyDecorator =>
  Rule(INT64_RULE, isInt64, (value) => (typeof value === 'string' ? (parseInt64(value) ?? value) : value));

const UTC_TIME_SCHEMA = { type: 'string', format: 'date-time', example: '2026-05-17T09:30:00.000Z' } as const;

/** Parses an RFC 3339 time in a body as a Date, and documents its format. */
export const UtcTime = (): PropertyDecorator => time(UTC_TIME_RULE);

/** Parses an RFC 3339 time in a query parameter as a Date, and documents its format. */
export const QueryTime = (): PropertyDecorator => time(`${UTC_TIME_RULE}. In a URL, the + of an offset is %2B`);

const time = (text: string): PropertyDecorator =>
  applyDecorators(
    Rule(text, isUtcTime, (value) => (typeof value === 'string' ? (parseUtcTime(value) ?? value) : value)),
    ApiProperty(UTC_TIME_SCHEMA),
  );

export const INT64_SCHEMA = { type: 'integer', format: 'int64' } as const;

/** The identifier in examples of the OpenAPI document. It is above 2^53, so a JavaScript number would round it. */
export const EXAMPLE_ID = 2n ** 53n + 1n;

/** Parses an identifier. Throws the not-found error if the text is not an int64. */
class IdPipe implements PipeTransform<string, bigint> {
  constructor(private readonly notFound: ErrorDefinition) {}

  transform(text: string): bigint {
    const id = parseInt64(text);
    if (id === undefined) throw new DomainError(this.notFound);
    return id;
  }
}

/** Injects an identifier of the path, and documents it. Throws the not-found error if its text is not an int64. */
export const IdParam = (name: string, notFound: ErrorDefinition, description: string): ParameterDecorator =>
  documented(Param(name, new IdPipe(notFound)), ApiParam({ name, schema: INT64_SCHEMA, description }));
