import { DomainRule, INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { plainToInstance, TransformationType, type TypeMetadata } from 'class-transformer';
// Not public, but its version is pinned, and `@nestjs/mapped-types` reads it too.
import { defaultMetadataStorage as storage } from 'class-transformer/cjs/storage.js';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { isObject, itemsOf, MemberRule, type ValidationMetadata } from './member-rule.js';

const { PLAIN_TO_CLASS } = TransformationType;

/** Limits the time of a conversion: class-transformer is quadratic in the members of an object, and takes about 1 µs per value. */
const MAX_NESTED_VALUES = 2_000;

const EXACT_NUMBER_RULE = 'must be less than 2^53 in magnitude: a larger number has lost digits';

type Source = Readonly<Record<string, unknown>>;
type Condition = (object: object, value: unknown) => boolean;

/** A member that has decorators of class-validator. */
class Member {
  /** Converts the received value before validation. */
  readonly convert: ((value: unknown) => unknown) | undefined;
  /** Whether only class-transformer can convert it. */
  readonly isTransformed: boolean;
  /** The class of `@Type`. */
  readonly type: Type | undefined;
  /** Whether the rules apply. */
  private readonly condition: Condition | undefined;
  private readonly rules: readonly MemberRule[];
  private readonly nested: MemberRule | undefined;

  constructor(
    dto: Type,
    readonly name: string,
    metadata: readonly ValidationMetadata[],
  ) {
    const isNumber = Reflect.getMetadata('design:type', dto.prototype as object, name) === Number;
    const rules = metadata.map(({ context }): unknown => context).filter((context) => context instanceof DomainRule);
    this.convert = rules.find(({ convert }) => convert)?.convert ?? (isNumber ? toNumber : undefined);
    this.isTransformed = name in (dto.prototype as object) || hasUncompiledDecorators(dto, name);
    if (!this.isTransformed) this.type = typeOf(dto, name)?.typeFunction?.() as Type | undefined;
    this.condition = metadata
      .filter(({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION)
      .map(({ constraints }) => constraints[0] as Condition)
      .reduce<Condition | undefined>((all, one) => (all ? (object, value) => all(object, value) && one(object, value) : one), undefined);
    this.rules = MemberRule.of(dto, metadata);
    this.nested = this.rules.find(({ name: rule }) => rule === ValidationTypes.NESTED_VALIDATION);
  }

  /** Appends a message for each violated rule. `path` is that of the object, and is empty for a body or query. */
  check(object: object, path: string, messages: string[]): void {
    const value = (object as Source)[this.name];
    if (this.condition && !this.condition(object, value)) return;
    let violations: Map<string, string> | undefined;
    for (const rule of this.rules) {
      if (!rule.isMet(value, object)) (violations ??= new Map<string, string>()).set(rule.name, rule.messageFor(value, object));
    }
    if (!violations && !this.nested) return;
    const at = path === '' ? this.name : `${path}.${this.name}`;
    if (violations && this.convert === toNumber && typeof value === 'bigint')
      violations = new Map([['number', `${this.name} ${EXACT_NUMBER_RULE}`]]);
    // Decorators run from last to first.
    for (const message of [...(violations?.values() ?? [])].reverse()) messages.push(messageAt(at, this.name, message));
    if (this.nested) this.checkNested(this.nested, value, object, at, messages);
  }

  /** Checks a nested object, or each item of a list. */
  private checkNested(nested: MemberRule, value: unknown, object: object, at: string, messages: string[]): void {
    const items = itemsOf(value);
    for (const [key, item] of items ?? []) {
      const place = `${at}.${String(key)}`;
      if (!nested.isMet(item, object)) messages.push(messageAt(place, String(key), nested.messageFor(item, object)));
      this.checkNested(nested, item, object, place, messages);
    }
    if (items || !isObject(value)) return;
    const compiled = CompiledDto.of(value.constructor as Type);
    if (!compiled) throw new Error(`${at} needs @Type with a class that has validation rules.`);
    compiled.check(value, at, messages);
  }
}

/** Converts bodies or query strings to valid instances of a class. */
export class CompiledDto {
  private static readonly known = new Map<Type, CompiledDto>();
  private readonly members: readonly Member[];
  private readonly byName: ReadonlyMap<string, Member>;
  /** Whether class-transformer creates the instances. */
  private readonly isTransformed: boolean;

  private constructor(
    private readonly dto: Type,
    metadata: readonly ValidationMetadata[],
  ) {
    this.members = [...Map.groupBy(metadata, ({ propertyName }) => propertyName)].map(([name, own]) => new Member(dto, name, own));
    this.byName = new Map(this.members.map((member) => [member.name, member]));
    this.isTransformed = isExposedOrExcluded(dto) || this.members.some((member) => member.isTransformed);
  }

  /**
   * Returns undefined if the class has no rules.
   * @throws Error if one of its rules is asynchronous
   */
  static of(dto: Type): CompiledDto | undefined {
    const known = CompiledDto.known.get(dto);
    if (known) return known;
    const metadata = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    if (metadata.length === 0) return undefined;
    const compiled = new CompiledDto(dto, metadata);
    CompiledDto.known.set(dto, compiled);
    for (const { type } of compiled.members) if (type) CompiledDto.of(type);
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
    const unknown = rejectUnknown && Object.keys(source).filter((name) => !this.member(name));
    const instance = this.convert(source as Source, unknown);
    const messages: string[] = [];
    this.check(instance, '', messages);
    for (const name of unknown ?? []) messages.push(unknownNameMessage(String(rejectUnknown), name));
    if (messages.length > 0) throw new DomainError(INVALID_REQUEST, messages.join('; '));
    return instance;
  }

  /** Appends a message for each violated rule of the object. `path` is that of the object, and is empty for a body or query. */
  check(object: object, path: string, messages: string[]): void {
    for (const member of this.members) member.check(object, path, messages);
  }

  /** Limits the number of values in the known members, and removes nested members such as `constructor`. */
  private limit(source: Source): void {
    let values = 0;
    for (const { name } of this.members) {
      if (!Object.hasOwn(source, name)) continue;
      const value = source[name];
      values = isObject(value) ? removeInheritedNames(value, values + 1) : values + 1;
    }
    limitValues(values);
  }

  /** Creates an instance. Reports members whose conversion throws, for example `new Date(1n)` or a `@Transform` that expects text. */
  private convert(source: Source, unknown: string[] | undefined): object {
    try {
      return this.create(source, '', unknown);
    } catch (error) {
      // Throws again if this was the error.
      this.limit(source);
      const invalid = Object.keys(source).filter((name) => {
        try {
          return !this.create({ [name]: source[name] }, '', undefined);
        } catch {
          return true;
        }
      });
      if (invalid.length === 0) throw error;
      throw new DomainError(INVALID_REQUEST, invalid.map((name) => `${name} has an invalid type`).join('; '), { cause: error });
    }
  }

  /**
   * Creates an instance with the known members. Unknown members such as `__proto__` are not assigned.
   * @param path of the object, with a dot at its end; empty for a body or query
   * @param unknown receives the paths of unknown members of nested objects
   */
  private create(source: Source, path: string, unknown: string[] | undefined): object {
    if (this.isTransformed) return this.transform(source, path, unknown);
    let isLimited = path !== '';
    if (unknown && path !== '') {
      for (const name of Object.keys(source)) if (!this.member(name)) unknown.push(path + name);
    }
    const instance = new this.dto() as Record<string, unknown>;
    for (const { name, type, convert } of this.members) {
      let value = source[name];
      // Like in class-transformer, an undefined member has its default.
      if (value === undefined || !Object.hasOwn(source, name)) continue;
      if (!isLimited && isObject(value)) {
        this.limit(source);
        isLimited = true;
      }
      if (type) value = CompiledDto.convertTo(type, value, path + name, unknown);
      instance[name] = convert ? convert(value) : value;
    }
    return instance;
  }

  /** Converts a value, or each item of a list, like `@Type`. */
  private static convertTo(type: Type, value: unknown, at: string, unknown: string[] | undefined): unknown {
    if (Array.isArray(value)) return value.map((item, index) => CompiledDto.convertTo(type, item, `${at}.${String(index)}`, unknown));
    if (value === null) return null;
    if (type === Date) return new Date(value as string);
    if (type === Number && (typeof value === 'bigint' || typeof value === 'number')) return toNumber(value);
    if (type === String || type === Number || type === Boolean) return (type as unknown as (from: unknown) => unknown)(value);
    if (!isObject(value)) return value;
    const compiled = CompiledDto.of(type);
    return compiled ? compiled.create(value as Source, `${at}.`, unknown) : toInstance(type, value);
  }

  private transform(source: Source, path: string, unknown: string[] = []): object {
    if (path === '') this.limit(source);
    const isKnown = (name: string) => this.member(name) && !(name in Object.prototype);
    const known = path === '' ? Object.fromEntries(Object.entries(source).filter(([name]) => isKnown(name))) : source;
    const instance = toInstance(this.dto, known);
    convertMembers(instance, path, unknown);
    return instance;
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

/** Returns the metadata of `@Type`. */
function typeOf(dto: Type, name: string): Partial<TypeMetadata> | undefined {
  return storage.findTypeMetadata(dto, name);
}

function isExposedOrExcluded(dto: Type): boolean {
  const exposed = storage.getExposedProperties(dto, PLAIN_TO_CLASS);
  const excluded = storage.getExcludedProperties(dto, PLAIN_TO_CLASS);
  return storage.getStrategy(dto) !== 'none' || exposed.length > 0 || excluded.length > 0;
}

/** Returns whether a member has decorators of class-transformer other than `@Type(() => Line)`, which is compiled. */
function hasUncompiledDecorators(dto: Type, name: string): boolean {
  if (storage.findTransformMetadatas(dto, name, PLAIN_TO_CLASS).length > 0) return true;
  const metadata = typeOf(dto, name);
  if (!metadata) return false;
  const { typeFunction, options } = metadata;
  const reflectedType: unknown = metadata.reflectedType;
  // Without a function, the type is that of TypeScript. A function with a parameter depends on the received object.
  if (!typeFunction || typeFunction.length > 0 || options?.discriminator) return true;
  return reflectedType === Set || reflectedType === Map || typeFunction() === Buffer;
}

/** Removes members such as `constructor` at any depth, because class-transformer and the rules use them. Returns the number of values. */
function removeInheritedNames(value: object, seen: number): number {
  const names = Object.keys(value);
  let total = seen + names.length;
  limitValues(total);
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (name in Object.prototype) Reflect.deleteProperty(value, name);
    else if (isObject(member)) total = removeInheritedNames(member, total);
  }
  return total;
}

function limitValues(total: number): void {
  if (total <= MAX_NESTED_VALUES) return;
  throw new DomainError(INVALID_REQUEST, `The known members must contain at most ${String(MAX_NESTED_VALUES)} values in total.`);
}

function toInstance(type: Type, value: object): object {
  return plainToInstance(type, value, { exposeDefaultValues: true }) as object;
}

/** Converts the members of an instance and of its nested DTOs, whose unknown members it removes and appends to `removed`. */
function convertMembers(value: unknown, path: string, removed: string[]): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) convertMembers(item, `${path}${String(index)}.`, removed);
    return;
  }
  if (!isObject(value) || typeof value.constructor !== 'function') return;
  const compiled = CompiledDto.of(value.constructor as Type);
  if (!compiled) return;
  for (const [name, received] of Object.entries(value) as [string, unknown][]) {
    const member = compiled.member(name);
    if (path !== '' && !member) {
      Reflect.deleteProperty(value, name);
      removed.push(path + name);
    } else {
      if (member?.convert) Reflect.set(value, name, member.convert(received));
      convertMembers(received, `${path}${name}.`, removed);
    }
  }
}

/** Converts a bigint to a number. JSON integers are parsed as bigints. Integers beyond 2^53 are left or become bigints, which the rules reject. */
function toNumber(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return BigInt(value);
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
