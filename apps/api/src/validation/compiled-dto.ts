import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { plainToInstance, TransformationType } from 'class-transformer';
// Not public, but its version is pinned, and `@nestjs/mapped-types` reads it too.
import { defaultMetadataStorage as storage } from 'class-transformer/cjs/storage.js';
import { DtoRules } from './dto-rules.js';

const { PLAIN_TO_CLASS } = TransformationType;

/** Limits the time of a conversion: class-transformer is quadratic in the members of an object, and takes about 1 µs per value. */
const MAX_NESTED_VALUES = 2_000;

type Source = Readonly<Record<string, unknown>>;

interface Member {
  readonly name: string;
  /** The class of `@Type`. */
  readonly type: Type | undefined;
  readonly convert: ((value: unknown) => unknown) | undefined;
}

/** Converts bodies or query strings to valid instances of a class. */
export class CompiledDto {
  private static readonly known = new Map<Type, CompiledDto>();
  private readonly members: readonly Member[];
  /** Whether class-transformer creates the instances. */
  private readonly isTransformed: boolean;

  private constructor(
    private readonly dto: Type,
    readonly rules: DtoRules,
  ) {
    const names = rules.members.map(({ name }) => name);
    this.isTransformed = names.some((name) => name in (dto.prototype as object)) || hasUncompiledDecorators(dto, names);
    this.members = rules.members.map(({ name, convert }) => ({
      name,
      type: this.isTransformed ? undefined : typeOf(dto, name),
      convert,
    }));
  }

  /**
   * Returns undefined if the class has no rules.
   * @throws Error if one of its rules is asynchronous
   */
  static of(dto: Type): CompiledDto | undefined {
    const known = CompiledDto.known.get(dto);
    if (known) return known;
    const rules = DtoRules.of(dto);
    if (rules.members.length === 0) return undefined;
    const compiled = new CompiledDto(dto, rules);
    CompiledDto.known.set(dto, compiled);
    for (const { type } of compiled.members) if (type) CompiledDto.of(type);
    return compiled;
  }

  /**
   * @param rejectUnknown what an unknown name is called in the message; undefined ignores unknown names
   * @throws DomainError which names every invalid member and, with `rejectUnknown`, every unknown one
   */
  parse(source: object, rejectUnknown?: 'member' | 'query parameter'): object {
    this.limit(source as Source);
    const unknown = rejectUnknown && Object.keys(source).filter((name) => !this.rules.member(name));
    const instance = this.convert(source as Source, unknown);
    const messages: string[] = [];
    this.rules.check(instance, '', messages);
    for (const name of unknown ?? []) messages.push(unknownNameMessage(String(rejectUnknown), name));
    if (messages.length > 0) throw new DomainError(INVALID_REQUEST, messages.join('; '));
    return instance;
  }

  /** Limits the number of values in the known members, and removes nested members such as `constructor`. */
  private limit(source: Source): void {
    if (!this.members.some(({ name }) => isObject(source[name]))) return;
    const known = this.members.flatMap(({ name }) => (Object.hasOwn(source, name) ? [source[name]] : []));
    const values = known.reduce<number>((seen, value) => (isObject(value) ? removeInheritedNames(value, seen) : seen), known.length);
    limitValues(values);
  }

  /** Creates an instance. Reports members whose conversion throws, for example `new Date(1n)` or a `@Transform` that expects text. */
  private convert(source: Source, unknown: string[] | undefined): object {
    try {
      return this.create(source, '', unknown);
    } catch (error) {
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
    if (unknown && path !== '') {
      for (const name of Object.keys(source)) if (!this.rules.member(name)) unknown.push(path + name);
    }
    const instance = new this.dto() as Record<string, unknown>;
    for (const { name, type, convert } of this.members) {
      if (!Object.hasOwn(source, name)) continue;
      let value = source[name];
      // Like in class-transformer, an undefined member has its default.
      if (value === undefined) continue;
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
    if (type === String || type === Number || type === Boolean) return (type as unknown as (from: unknown) => unknown)(value);
    if (!isObject(value)) return value;
    const compiled = CompiledDto.of(type);
    return compiled ? compiled.create(value as Source, `${at}.`, unknown) : toInstance(type, value);
  }

  private transform(source: Source, path: string, unknown: string[] = []): object {
    const isKnown = (name: string) => this.rules.member(name) && !(name in Object.prototype);
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

/** Returns the class of `@Type(() => Line)`. */
function typeOf(dto: Type, name: string): Type | undefined {
  return storage.findTypeMetadata(dto, name)?.typeFunction?.() as Type | undefined;
}

/** Returns whether a class has decorators of class-transformer other than `@Type(() => Line)`, which is compiled. */
function hasUncompiledDecorators(dto: Type, names: readonly string[]): boolean {
  const isExposedOrExcluded =
    storage.getStrategy(dto) !== 'none' ||
    storage.getExposedProperties(dto, PLAIN_TO_CLASS).length > 0 ||
    storage.getExcludedProperties(dto, PLAIN_TO_CLASS).length > 0;
  return isExposedOrExcluded || names.some((name) => isTransformed(dto, name));
}

function isTransformed(dto: Type, name: string): boolean {
  if (storage.findTransformMetadatas(dto, name, PLAIN_TO_CLASS).length > 0) return true;
  const metadata = storage.findTypeMetadata(dto, name);
  if (!metadata) return false;
  const { typeFunction, reflectedType, options } = metadata;
  // Without a function, the type is that of TypeScript. A function with a parameter depends on the received object.
  if (!typeFunction || typeFunction.length > 0 || options.discriminator) return true;
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
  const rules = DtoRules.of(value.constructor as Type);
  if (rules.members.length === 0) return;
  for (const [name, received] of Object.entries(value) as [string, unknown][]) {
    const member = rules.member(name);
    if (path !== '' && !member) {
      Reflect.deleteProperty(value, name);
      removed.push(path + name);
    } else {
      if (member?.convert) Reflect.set(value, name, member.convert(received));
      convertMembers(received, `${path}${name}.`, removed);
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
