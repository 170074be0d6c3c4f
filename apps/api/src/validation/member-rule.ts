import { isPromise } from 'node:util/types';
import { DomainRule } from '@animal-store/http-kit';
import type { Type } from '@nestjs/common';
import { getMetadataStorage, IS_ENUM, type MetadataStorage, type ValidationArguments, ValidationTypes } from 'class-validator';

export type ValidationMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type ConstraintMetadata = ReturnType<MetadataStorage['getTargetValidatorConstraints']>[number];
type Predicate = (value: unknown, object: object) => boolean;

/** A rule of a member, compiled from the metadata of one decorator of class-validator, whose messages it has. */
export class MemberRule {
  /** Of two violated rules with the same name, only the last one is reported. */
  readonly name: string;
  readonly isMet: Predicate;
  private readonly targetName: string;

  /** @throws Error if the rule is asynchronous */
  constructor(
    dto: Type,
    private readonly metadata: ValidationMetadata,
    private readonly constraint?: ConstraintMetadata,
  ) {
    this.targetName = dto.name;
    if (constraint?.async) throw this.asynchronous();
    this.name = constraint?.name || metadata.type;
    this.isMet = constraint ? this.compile(constraint) : isNested;
  }

  /** Returns the rules of a member. The one of `@ValidateNested()` is the last. */
  static of(dto: Type, metadata: readonly ValidationMetadata[]): MemberRule[] {
    const ofType = (wanted: string) => metadata.filter(({ type }) => type === wanted);
    const constraints = [...ofType(ValidationTypes.IS_DEFINED), ...ofType(ValidationTypes.CUSTOM_VALIDATION)].flatMap((one) =>
      getMetadataStorage()
        .getTargetValidatorConstraints(one.constraintCls)
        .map((constraint) => new MemberRule(dto, one, constraint)),
    );
    const nested = ofType(ValidationTypes.NESTED_VALIDATION).slice(0, 1);
    return [...constraints, ...nested.map((one) => new MemberRule(dto, one))];
  }

  /** Returns the text of the message. Replaces `$constraint1`, `$value`, `$property` and `$target`, like class-validator. */
  messageFor(value: unknown, object: object): string {
    const given = this.argumentsFor(value, object);
    const message = this.metadata.message || this.constraint?.instance.defaultMessage?.(given) || '';
    let text = typeof message === 'function' ? message(given) : message;
    const constraints = (given.constraints as unknown[] | undefined) ?? [];
    constraints.forEach((constraint, index) => {
      const shown = Array.isArray(constraint)
        ? constraint.join(', ')
        : typeof constraint === 'symbol'
          ? constraint.description
          : constraint;
      text = text.replaceAll(`$constraint${String(index + 1)}`, String(shown));
    });
    if (['string', 'boolean', 'number'].includes(typeof value)) text = text.replaceAll('$value', String(value));
    return text.replaceAll('$property', given.property).replaceAll('$target', given.targetName);
  }

  private compile(constraint: ConstraintMetadata): Predicate {
    const { each, validateIf } = this.metadata;
    const context: unknown = this.metadata.context;
    if (context instanceof DomainRule) return context.isValid;
    const accepts = constraint.name === IS_ENUM ? this.isOneOf() : this.accepts(constraint);
    const isMet: Predicate = each
      ? (value, object) => (Array.isArray(value) ? value : [value]).every((item) => accepts(item, object))
      : accepts;
    return validateIf ? (value, object) => !validateIf(object, value) || isMet(value, object) : isMet;
  }

  /** Like `@IsEnum`, which would list the values of the enumeration on each call. */
  private isOneOf(): Predicate {
    const values = new Set<unknown>(Object.values((this.metadata.constraints as [object])[0]));
    return (value) => values.has(value);
  }

  private accepts({ instance }: ConstraintMetadata): Predicate {
    // Each decorator has a class of its own, so a call through the instance would be megamorphic.
    const validate = instance.validate.bind(instance);
    return (value, object) => {
      const result: unknown = validate(value, this.argumentsFor(value, object));
      if (isPromise(result)) throw this.asynchronous();
      return Boolean(result);
    };
  }

  private argumentsFor(value: unknown, object: object): ValidationArguments {
    const { targetName } = this;
    const { propertyName: property, constraints } = this.metadata;
    return { targetName, property, object, value, constraints };
  }

  private asynchronous(): Error {
    return new Error(`The rule of ${this.targetName}.${this.metadata.propertyName} is asynchronous; only synchronous rules are supported.`);
  }
}

function isNested(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null);
}
