import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import {
  conditionsOf,
  type Conversion,
  conversionsOf,
  type Decorator,
  decoratorsOf,
  isNested,
  isNumber,
  nestedTypeOf,
  type Rule,
  rulesOf,
} from './dto-decorators.js';

/** Limits the number of error messages. */
const MAX_VALUES = 2_000;

type Source = Readonly<Record<string, unknown>>;
/** What is wrong with a body or query. Paths end with the name of a member, such as `lines.0.price`. */
export interface Findings {
  readonly messages: string[];
  /** Paths of members that have a message already, so that their rules do not matter. */
  readonly reported: string[];
  isRuleViolated: boolean;
  /** Paths of unknown members. Undefined if they are ignored. */
  readonly unknown: string[] | undefined;
}

/**
 * Converts bodies and query strings to valid instances of a class, as class-transformer and class-validator would, but reads their
 * decorators only once, and keeps numbers exact. class-validator only runs on an invalid instance, to write the messages.
 */
export class CompiledDto {
  private static readonly known = new Map<Type, CompiledDto>();
  private members: readonly Member[] = [];

  private constructor(private readonly dto: Type) {}

  /** Returns undefined without rules. @throws Error if a rule is asynchronous, or a decorator of class-transformer is not supported */
  static of(dto: Type): CompiledDto | undefined {
    const known = CompiledDto.known.get(dto);
    if (known) return known;
    const byName = decoratorsOf(dto);
    if (byName.size === 0) return undefined;
    const compiled = new CompiledDto(dto);
    // First, because a class may contain itself.
    CompiledDto.known.set(dto, compiled);
    try {
      compiled.members = [...byName].map(([name, own]) => new Member(dto, name, own));
    } catch (error) {
      CompiledDto.known.delete(dto);
      throw error;
    }
    return compiled;
  }

  has(name: string): boolean {
    return this.members.some((member) => member.name === name);
  }

  /** @param rejectUnknown what unknown names are called; undefined ignores them. @throws DomainError which names every invalid one */
  parse(source: object, rejectUnknown?: 'member' | 'query parameter'): object {
    const found: Findings = { messages: [], reported: [], isRuleViolated: false, unknown: rejectUnknown && [] };
    this.limit(source as Source);
    const instance = this.create(source as Source, found, '');
    this.check(instance, found, '');
    const { messages, reported, isRuleViolated, unknown } = found;
    if (!isRuleViolated && messages.length === 0 && !unknown?.length) return instance;
    if (isRuleViolated) messages.push(...messagesOf(validateSync(instance), reported));
    for (const name of unknown ?? []) messages.push(unknownNameMessage(String(rejectUnknown), name));
    throw new DomainError(INVALID_REQUEST, messages.join('; '));
  }

  /** Assigns only known members, and not for example `__proto__`. @param path ends with a dot; empty for a body or query */
  create(source: Source, found: Findings, path: string): object {
    if (found.unknown) {
      for (const name of Object.keys(source)) if (!this.has(name)) found.unknown.push(path + name);
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

  check(instance: object, found: Findings, path: string): void {
    for (const member of this.members) member.check(instance, found, path);
  }

  /** Limits the number of values in the known members, and removes nested members such as `constructor`. */
  private limit(source: Source): void {
    let values = 0;
    for (const { name } of this.members) if (Object.hasOwn(source, name)) values = removeInheritedNames(source[name], values);
  }
}

/** A member that has decorators of class-validator. */
class Member {
  /** The class of the value or of its items. */
  private readonly nested: CompiledDto | undefined;
  private readonly conversions: readonly Conversion[];
  /** The rules apply if these are met. */
  private readonly conditions: readonly Rule[];
  private readonly rules: readonly Rule[];
  /** Whether the rules of `nested` apply, too. */
  private readonly checksNested: boolean;
  private readonly isNumber: boolean;

  constructor(
    dto: Type,
    readonly name: string,
    decorators: readonly Decorator[],
  ) {
    if (name in (dto.prototype as object)) throw new Error(`${dto.name}.${name} must not be an accessor.`);
    const type = nestedTypeOf(dto, name);
    const nested = type && CompiledDto.of(type);
    this.nested = nested;
    this.checksNested = isNested(decorators);
    if (!nested && (type || this.checksNested)) throw new Error(`${dto.name}.${name} needs @Type with a class that has rules.`);
    const create: Conversion = (value, _source, found, at) => (isObject(value) ? nested?.create(value as Source, found, `${at}.`) : value);
    this.conversions = conversionsOf(dto, name, decorators, nested && create);
    this.conditions = conditionsOf(decorators);
    this.rules = rulesOf(dto, decorators);
    this.isNumber = isNumber(dto, name);
  }

  /** Returns the converted value. A number that has lost digits is left as it is for `check`. */
  convert(received: unknown, source: Source, found: Findings, at: string): unknown {
    if (this.conversions.length === 0 || (!this.nested && hasLostDigits(received))) return received;
    try {
      let value = received;
      for (const convert of this.conversions) value = convert(value, source, found, at);
      return value;
    } catch {
      // For example of `new Date(1n)`, or of a `@Transform` that expects text.
      report(found, at, 'has an invalid type');
      return undefined;
    }
  }

  check(object: object, found: Findings, path: string): void {
    const { name, isNumber } = this;
    if (found.reported.length > 0 && found.reported.includes(path + name)) return;
    const value = (object as Source)[name];
    if (!areMet(this.conditions, value, object)) return;
    const isViolated = !areMet(this.rules, value, object);
    const isInexact = !this.checksNested && ((isNumber && typeof value === 'bigint') || hasLostDigits(value));
    if (isInexact && (isNumber || !isViolated))
      report(found, path + name, 'must be less than 2^53 in magnitude: a larger number has lost digits');
    else found.isRuleViolated ||= isViolated;
    if (this.checksNested) this.checkNested(value, found, path + name);
  }

  private checkNested(value: unknown, found: Findings, at: string): void {
    if (Array.isArray(value)) value.forEach((item, index) => this.checkNested(item, found, `${at}.${String(index)}`));
    else if (isObject(value)) this.nested?.check(value, found, `${at}.`);
    else found.isRuleViolated ||= value !== undefined;
  }
}

function areMet(rules: readonly Rule[], value: unknown, object: object): boolean {
  for (const isMet of rules) if (!isMet(value, object)) return false;
  return true;
}

function report({ messages, reported }: Findings, at: string, problem: string): void {
  messages.push(`${at} ${problem}`);
  reported.push(at);
}

/** Returns the messages of class-validator, with the paths of the members. Decorators run from last to first. */
function messagesOf(violations: readonly ValidationError[], reported: readonly string[], path = ''): string[] {
  return violations.flatMap(({ property, constraints = {}, children = [] }) => {
    const at = path + property;
    if (reported.includes(at)) return [];
    const own = Object.values(constraints).reverse();
    return [
      ...own.map((message) => (message.startsWith(`${property} `) ? path + message : `${at}: ${message}`)),
      ...messagesOf(children, reported, `${at}.`),
    ];
  });
}

/** Returns the error message for an unknown name. Long names are truncated. */
export function unknownNameMessage(kind: string, name: string): string {
  return `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}`;
}

/** Returns whether a value contains an integer beyond 2^53 that is a number. */
function hasLostDigits(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isObject(value) && Object.values(value).some(hasLostDigits);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Removes members such as `constructor` at any depth, because the rules use them. Returns the number of values. */
function removeInheritedNames(value: unknown, seen: number): number {
  if (!isObject(value)) return seen;
  const names = Object.keys(value);
  let total = seen + names.length;
  if (total > MAX_VALUES) {
    throw new DomainError(INVALID_REQUEST, `The known members must contain at most ${String(MAX_VALUES)} values in total.`);
  }
  for (const name of names) {
    if (name in Object.prototype) Reflect.deleteProperty(value, name);
    else total = removeInheritedNames((value as Source)[name], total);
  }
  return total;
}
