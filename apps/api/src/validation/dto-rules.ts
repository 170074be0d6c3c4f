import { isPromise } from 'node:util/types';
import { Conversion } from '@animal-store/http-contract';
import type { Type } from '@nestjs/common';
import {
  getMetadataStorage,
  type MetadataStorage,
  type ValidationArguments,
  ValidationTypes,
  type ValidatorConstraintInterface,
} from 'class-validator';

type ValidationMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];
type ConstraintMetadata = ReturnType<MetadataStorage['getTargetValidatorConstraints']>[number];
type Condition = (object: object, value: unknown) => boolean;
type Message = ValidationMetadata['message'];

/** Messages by the name of their constraint. */
type Violations = Map<string, string>;

/**
 * The rules of a class, compiled from the metadata of class-validator's decorators, including inherited ones. Its messages are those of
 * class-validator, with the path of the member.
 */
export class DtoRules {
  private static readonly known = new Map<Type, DtoRules>();
  readonly members: readonly MemberRules[];
  private readonly byName: ReadonlyMap<string, MemberRules>;

  private constructor(dto: Type) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    const byName = Map.groupBy(metadata, ({ propertyName }) => propertyName);
    this.members = [...byName].map(([name, declared]) => new MemberRules(dto, name, declared));
    this.byName = new Map(this.members.map((member) => [member.name, member]));
  }

  /** @throws Error if a rule of the class is asynchronous */
  static of(dto: Type): DtoRules {
    let rules = DtoRules.known.get(dto);
    if (!rules) {
      rules = new DtoRules(dto);
      DtoRules.known.set(dto, rules);
    }
    return rules;
  }

  member(name: string): MemberRules | undefined {
    return this.byName.get(name);
  }

  /** Appends a message for each violated rule of the object. `path` is that of the object, and is empty for a body or query. */
  check(object: object, path: string, messages: string[]): void {
    for (const member of this.members) member.check(object, path, messages);
  }
}

class MemberRules {
  /** Converts the received value before validation. */
  readonly convert: ((value: unknown) => unknown) | undefined;
  private readonly conditions: readonly Condition[];
  private readonly rules: readonly Rule[];
  private readonly nested: ValidationMetadata | undefined;

  constructor(
    private readonly dto: Type,
    readonly name: string,
    metadata: readonly ValidationMetadata[],
  ) {
    const isNumber = Reflect.getMetadata('design:type', dto.prototype as object, name) === Number;
    const contexts = metadata.map(({ context }): unknown => context);
    this.convert = contexts.find((context) => context instanceof Conversion)?.convert ?? (isNumber ? toNumber : undefined);
    const ofType = (wanted: string) => metadata.filter(({ type }) => type === wanted);
    this.conditions = ofType(ValidationTypes.CONDITIONAL_VALIDATION).map(({ constraints }) => constraints[0] as Condition);
    this.rules = [...ofType(ValidationTypes.IS_DEFINED), ...ofType(ValidationTypes.CUSTOM_VALIDATION)].flatMap((one) =>
      getMetadataStorage()
        .getTargetValidatorConstraints(one.constraintCls)
        .map((constraint) => new Rule(dto, one, constraint)),
    );
    [this.nested] = ofType(ValidationTypes.NESTED_VALIDATION);
  }

  check(object: object, path: string, messages: string[]): void {
    const value = (object as Readonly<Record<string, unknown>>)[this.name];
    for (const condition of this.conditions) if (!condition(object, value)) return;
    let violations: Violations | undefined;
    for (const rule of this.rules) {
      if (!rule.isMet(value, object)) (violations ??= new Map<string, string>()).set(rule.name, rule.messageFor(value, object));
    }
    if (!violations && !this.nested) return;
    const at = path === '' ? this.name : `${path}.${this.name}`;
    if (this.nested) this.checkNested(this.nested, value, this.name, at, violations ?? new Map<string, string>(), messages);
    else if (violations) report(violations, this.name, at, messages);
  }

  /** Checks a nested object, or each item of a list. */
  private checkNested(
    nested: ValidationMetadata,
    value: unknown,
    property: string,
    at: string,
    violations: Violations,
    messages: string[],
  ): void {
    const items = itemsOf(value);
    const isNested = typeof value === 'object' && value !== null;
    if (!isNested && value !== undefined) {
      violations.set(nested.type, messageOf(nested.message, argumentsOf(this.dto.name, nested, value, this.dto)));
    }
    report(violations, property, at, messages);
    if (items) {
      for (const [key, item] of items)
        this.checkNested(nested, item, String(key), `${at}.${String(key)}`, new Map<string, string>(), messages);
    } else if (isNested) {
      const rules = DtoRules.of(value.constructor as Type);
      if (rules.members.length === 0) throw new Error(`${at} needs @Type with a class that has validation rules.`);
      rules.check(value, at, messages);
    }
  }
}

/** One constraint of a decorator of class-validator. */
class Rule {
  readonly name: string;
  private readonly validate: ValidatorConstraintInterface['validate'];
  private readonly targetName: string;

  constructor(
    dto: Type,
    private readonly metadata: ValidationMetadata,
    private readonly constraint: ConstraintMetadata,
  ) {
    this.targetName = dto.name;
    if (constraint.async) throw this.asynchronous();
    this.name = constraint.name || metadata.type;
    const { instance } = constraint;
    // Each decorator has a class of its own, so a call through the instance would be megamorphic.
    this.validate = instance.validate.bind(instance);
  }

  isMet(value: unknown, object: object): boolean {
    const { metadata } = this;
    if (metadata.validateIf && !metadata.validateIf(object, value)) return true;
    const given = argumentsOf(this.targetName, metadata, value, object);
    const items = metadata.each ? itemsOf(value) : undefined;
    if (!items) return this.accepts(value, given);
    for (const [, item] of items) if (!this.accepts(item, given)) return false;
    return true;
  }

  messageFor(value: unknown, object: object): string {
    const given = argumentsOf(this.targetName, this.metadata, value, object);
    return messageOf(this.metadata.message || this.constraint.instance.defaultMessage?.(given) || '', given);
  }

  private accepts(value: unknown, given: ValidationArguments): boolean {
    const result = this.validate(value, given);
    if (typeof result === 'boolean') return result;
    if (isPromise(result)) throw this.asynchronous();
    return Boolean(result);
  }

  private asynchronous(): Error {
    return new Error(`The rule of ${this.targetName}.${this.metadata.propertyName} is asynchronous; only synchronous rules are supported.`);
  }
}

function argumentsOf(
  targetName: string,
  { propertyName, constraints }: ValidationMetadata,
  value: unknown,
  object: object,
): ValidationArguments {
  return { targetName, property: propertyName, object, value, constraints };
}

/** Returns the text of a message. Replaces `$constraint1`, `$value`, `$property` and `$target`, like class-validator. */
function messageOf(message: Message, given: ValidationArguments): string {
  const { property, targetName } = given;
  const value: unknown = given.value;
  const constraints = (given.constraints as unknown[] | undefined) ?? [];
  let text = typeof message === 'function' ? message(given) : message;
  constraints.forEach((constraint, index) => {
    const shown = Array.isArray(constraint) ? constraint.join(', ') : typeof constraint === 'symbol' ? constraint.description : constraint;
    text = text.replaceAll(`$constraint${String(index + 1)}`, String(shown));
  });
  if (['string', 'boolean', 'number'].includes(typeof value)) text = text.replaceAll('$value', String(value));
  return text.replaceAll('$property', property).replaceAll('$target', targetName);
}

/** Appends the messages of a member, in the order of its decorators, which run from last to first. */
function report(violations: Violations, property: string, at: string, messages: string[]): void {
  for (const message of [...violations.values()].reverse()) {
    messages.push(message.startsWith(`${property} `) ? at + message.slice(property.length) : `${at}: ${message}`);
  }
}

/** Returns the items of a list, and undefined for other values. */
function itemsOf(value: unknown): Iterable<readonly [key: unknown, item: unknown]> | undefined {
  if (value instanceof Set) return [...value].entries();
  return Array.isArray(value) || value instanceof Map ? value.entries() : undefined;
}

/** Converts a bigint to a number, unless that would change the value. JSON integers are parsed as bigints. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
