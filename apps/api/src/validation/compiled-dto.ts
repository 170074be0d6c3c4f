import { DomainRule, INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { TransformationType, type TypeMetadata } from 'class-transformer';
// Not public, but its version is pinned, and `@nestjs/mapped-types` reads it too.
import { defaultMetadataStorage as storage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { MemberRule, type ValidationMetadata } from './member-rule.js';

const { PLAIN_TO_CLASS } = TransformationType;

/** Limits the number of error messages. */
const MAX_VALUES = 2_000;

const EXACT_NUMBER_RULE = 'must be less than 2^53 in magnitude: a larger number has lost digits';

type Source = Readonly<Record<string, unknown>>;
type Condition = (object: object, value: unknown) => boolean;
type Conversion = (value: unknown, source: Source, found: Findings, at: string) => unknown;

/** What is wrong with a body or query. */
interface Findings {
  readonly messages: string[];
  /** Paths of unknown members. Undefined if they are ignored. */
  readonly unknown: string[] | undefined;
}

/** The value of a member whose conversion has failed. */
const INVALID = Symbol('invalid');

/** A member that has decorators of class-validator. */
class Member {
  private readonly conversions: readonly Conversion[];
  private readonly isNumber: boolean;
  /** The class of the value or of its items. */
  private readonly dto: CompiledDto | undefined;
  /** Whether the rules apply. */
  private readonly condition: Condition | undefined;
  private readonly rules: readonly MemberRule[];
  private readonly nested: MemberRule | undefined;

  constructor(
    dto: Type,
    readonly name: string,
    metadata: readonly ValidationMetadata[],
  ) {
    if (name in (dto.prototype as object)) throw new Error(`${dto.name}.${name} must not be an accessor.`);
    const type = typeOf(dto, name);
    const convert = type && CONVERSIONS.get(type);
    this.dto = type && !convert ? CompiledDto.of(type) : undefined;
    this.isNumber = Reflect.getMetadata('design:type', dto.prototype as object, name) === Number;
    this.rules = MemberRule.of(dto, metadata);
    this.nested = this.rules.find(({ name: rule }) => rule === ValidationTypes.NESTED_VALIDATION);
    if (!this.dto && ((type && !convert) || this.nested)) throw new Error(`${dto.name}.${name} needs @Type with a class that has rules.`);
    this.condition = metadata
      .filter(({ type: kind }) => kind === ValidationTypes.CONDITIONAL_VALIDATION)
      .map(({ constraints }) => constraints[0] as Condition)
      .reduce<Condition | undefined>((all, one) => (all ? (object, value) => all(object, value) && one(object, value) : one), undefined);
    const rules = metadata.map(({ context }): unknown => context).filter((context) => context instanceof DomainRule);
    const toType = this.isNumber ? toNumber : undefined;
    this.conversions = [
      this.dto && ofItems(nestedConversion(this.dto)),
      convert && ofItems(convert),
      toType,
      ...storage.findTransformMetadatas(dto, name, PLAIN_TO_CLASS).map(({ transformFn }): Conversion => {
        return (value, obj) => transformFn({ value, key: name, obj, type: PLAIN_TO_CLASS, options: {} }) as unknown;
      }),
      rules.find((rule) => rule.convert)?.convert ?? toType,
    ].filter((each) => each !== undefined);
  }

  /** Returns the converted value. A number that has lost digits is left as it is for `check`. */
  convert(received: unknown, source: Source, found: Findings, at: string): unknown {
    const { conversions } = this;
    if (conversions.length === 0 || (!this.dto && hasLostDigits(received))) return received;
    try {
      let value = received;
      for (const convert of conversions) value = convert(value, source, found, at);
      return value;
    } catch {
      // For example of `new Date(1n)`, or of a `@Transform` that expects text.
      found.messages.push(`${at} has an invalid type`);
      return INVALID;
    }
  }

  /** Appends a message for each violated rule. `path` is that of the object, and is empty for a body or query. */
  check(object: object, path: string, messages: string[]): void {
    const value = (object as Source)[this.name];
    if (value === INVALID || (this.condition && !this.condition(object, value))) return;
    let violations: Map<string, string> | undefined;
    for (const rule of this.rules) {
      if (!rule.isMet(value, object)) (violations ??= new Map<string, string>()).set(rule.name, rule.messageFor(value, object));
    }
    // Nested objects are checked with their own rules.
    const isInexact = !this.nested && ((this.isNumber && typeof value === 'bigint') || hasLostDigits(value));
    if (isInexact && (this.isNumber || !violations)) violations = new Map([['', `${this.name} ${EXACT_NUMBER_RULE}`]]);
    if (!violations && !this.nested) return;
    const at = path === '' ? this.name : `${path}.${this.name}`;
    // Decorators run from last to first.
    for (const message of [...(violations?.values() ?? [])].reverse()) messages.push(messageAt(at, this.name, message));
    if (this.nested) this.checkNested(this.nested, value, object, at, messages);
  }

  /** Checks a nested object, or each item of a list. */
  private checkNested(nested: MemberRule, value: unknown, object: object, at: string, messages: string[]): void {
    if (!Array.isArray(value)) {
      if (isObject(value)) this.dto?.check(value, at, messages);
      return;
    }
    for (const [index, item] of value.entries()) {
      const place = `${at}.${String(index)}`;
      if (!nested.isMet(item, object)) messages.push(messageAt(place, String(index), nested.messageFor(item, object)));
      this.checkNested(nested, item, object, place, messages);
    }
  }
}

/** Converts bodies or query strings to valid instances of a class. */
export class CompiledDto {
  private static readonly known = new Map<Type, CompiledDto>();
  private members: readonly Member[] = [];
  private byName: ReadonlyMap<string, Member> = new Map();

  private constructor(private readonly dto: Type) {}

  /**
   * Returns undefined if the class has no rules.
   * @throws Error if a rule is asynchronous, or a decorator of class-transformer is not supported
   */
  static of(dto: Type): CompiledDto | undefined {
    const known = CompiledDto.known.get(dto);
    if (known) return known;
    const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    if (metadata.length === 0) return undefined;
    const compiled = new CompiledDto(dto);
    // First, because a class may contain itself.
    CompiledDto.known.set(dto, compiled);
    try {
      compiled.compile(metadata);
    } catch (error) {
      CompiledDto.known.delete(dto);
      throw error;
    }
    return compiled;
  }

  member(name: string): Member | undefined {
    return this.byName.get(name);
  }

  /**
   * @param rejectUnknown what an unknown name is called in the message; undefined ignores unknown names
   * @throws DomainError which names every invalid member and, with `rejectUnknown`, every unknown one
   */
  parse(source: object, rejectUnknown?: 'member' | 'query parameter'): object {
    const found: Findings = { messages: [], unknown: rejectUnknown && [] };
    this.limit(source as Source);
    const instance = this.create(source as Source, found, '');
    this.check(instance, '', found.messages);
    for (const name of found.unknown ?? []) found.messages.push(unknownNameMessage(String(rejectUnknown), name));
    if (found.messages.length > 0) throw new DomainError(INVALID_REQUEST, found.messages.join('; '));
    return instance;
  }

  /**
   * Returns an instance with the known members. Unknown members such as `__proto__` are not assigned.
   * @param path of the object, with a dot at its end; empty for a body or query
   */
  create(source: Source, found: Findings, path: string): object {
    if (found.unknown) {
      for (const name of Object.keys(source)) if (!this.member(name)) found.unknown.push(path + name);
    }
    const instance = new this.dto() as Record<string, unknown>;
    for (const member of this.members) {
      const { name } = member;
      const value = source[name];
      // An undefined member has its default.
      if (value !== undefined && Object.hasOwn(source, name)) instance[name] = member.convert(value, source, found, path + name);
    }
    return instance;
  }

  /** Appends a message for each violated rule of the object. `path` is that of the object, and is empty for a body or query. */
  check(object: object, path: string, messages: string[]): void {
    for (const member of this.members) member.check(object, path, messages);
  }

  private compile(metadata: readonly ValidationMetadata[]): void {
    const { dto } = this;
    const decorated = [...storage.getExposedProperties(dto, PLAIN_TO_CLASS), ...storage.getExcludedProperties(dto, PLAIN_TO_CLASS)];
    if (storage.getStrategy(dto) !== 'none' || decorated.length > 0)
      throw new Error(`${dto.name}: @Expose and @Exclude are not supported.`);
    this.members = [...Map.groupBy(metadata, ({ propertyName }) => propertyName)].map(([name, own]) => new Member(dto, name, own));
    this.byName = new Map(this.members.map((member) => [member.name, member]));
  }

  /** Limits the number of values in the known members, and removes nested members such as `constructor`. */
  private limit(source: Source): void {
    let values = 0;
    for (const { name } of this.members) {
      const value = source[name];
      if (isObject(value) && Object.hasOwn(source, name)) values = removeInheritedNames(value, values);
    }
  }
}

/** Returns the error message for an unknown name. Long names are truncated. */
export function unknownNameMessage(kind: string, name: string): string {
  return `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}`;
}

/** Returns the message of a member, after its path. */
function messageAt(path: string, name: string, message: string): string {
  return message.startsWith(`${name} `) ? path + message.slice(name.length) : `${path}: ${message}`;
}

/** Returns the class of `@Type`. */
function typeOf(dto: Type, name: string): Type | undefined {
  const metadata = storage.findTypeMetadata(dto, name) as Partial<TypeMetadata> | undefined;
  if (!metadata) return undefined;
  const { typeFunction, options } = metadata;
  const reflectedType: unknown = metadata.reflectedType;
  // Without a function, the type is that of TypeScript. A function with a parameter depends on the received object.
  const isSimple = typeFunction?.length === 0 && !options?.discriminator && reflectedType !== Set && reflectedType !== Map;
  if (!isSimple) throw new Error(`${dto.name}.${name}: only @Type(() => Class) for a value or an array is supported.`);
  return typeFunction() as Type;
}

/** The classes without rules that `@Type` may have. */
const CONVERSIONS = new Map<unknown, (value: unknown) => unknown>([
  [Date, (value) => new Date(value as string)],
  [Number, (value) => (typeof value === 'bigint' ? toNumber(value) : Number(value))],
  [String, String],
  [Boolean, Boolean],
]);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Converts a value, or each item of a list. */
function ofItems(convert: Conversion): Conversion {
  return function convertItems(value, source, found, at): unknown {
    if (Array.isArray(value)) return value.map((item, index) => convertItems(item, source, found, `${at}.${String(index)}`));
    return value === null ? null : convert(value, source, found, at);
  };
}

function nestedConversion(dto: CompiledDto): Conversion {
  return (value, _source, found, at) => (isObject(value) ? dto.create(value as Source, found, `${at}.`) : value);
}

/** Converts a bigint to a number if it stays exact. JSON integers are parsed as bigints. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Returns whether a value contains an integer beyond 2^53 that is a number. */
function hasLostDigits(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isObject(value) && Object.values(value).some(hasLostDigits);
}

/** Removes members such as `constructor` at any depth, because the rules use them. Returns the number of values. */
function removeInheritedNames(value: object, seen: number): number {
  const names = Object.keys(value);
  let total = seen + names.length;
  if (total > MAX_VALUES) {
    throw new DomainError(INVALID_REQUEST, `The known members must contain at most ${String(MAX_VALUES)} values in total.`);
  }
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (name in Object.prototype) Reflect.deleteProperty(value, name);
    else if (isObject(member)) total = removeInheritedNames(member, total);
  }
  return total;
}
