import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { declaredMembers } from './declared-members.js';

/** Limits the time in class-transformer: it is quadratic in the members of an object, and about 1 µs per value. */
const MAX_NESTED_VALUES = 2_000;

/**
 * Converts a body or query to an instance of its class with class-transformer, and validates it with class-validator.
 * @param rejectUnknown what an unknown name is called in the message; undefined ignores unknown names
 * @throws DomainError which names every invalid member and, with `rejectUnknown`, every unknown one
 */
export function validateWithClassValidator(dto: Type, source: object, rejectUnknown?: 'member' | 'query parameter'): object {
  const declared = declaredMembers(dto);
  // Unknown members such as `__proto__` are not assigned.
  const known = Object.fromEntries(Object.entries(source).filter(([name]) => declared.has(name)));
  removeInheritedNames(known);
  const instance = convert(dto, known);
  const unknown = [...Object.keys(source).filter((name) => !declared.has(name)), ...readMembers(instance)];
  const messages = [
    ...validateSync(instance).flatMap((violation) => messagesOf(violation)),
    ...(rejectUnknown ? unknown.map((name) => unknownNameMessage(rejectUnknown, name)) : []),
  ];
  if (messages.length > 0) throw new DomainError(INVALID_REQUEST, messages.join('; '));
  return instance;
}

/** Returns the error message for an unknown name. Long names are truncated. */
export function unknownNameMessage(kind: string, name: string): string {
  return `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}`;
}

/** Removes members such as `constructor` at any depth, because class-transformer calls them. Returns the number of values. */
function removeInheritedNames(value: object, seen = 0): number {
  const names = Object.keys(value);
  let total = seen + names.length;
  if (total > MAX_NESTED_VALUES) {
    throw new DomainError(INVALID_REQUEST, `The known members must contain at most ${String(MAX_NESTED_VALUES)} values in total.`);
  }
  for (const name of names) {
    const member = (value as Record<string, unknown>)[name];
    if (name in Object.prototype) Reflect.deleteProperty(value, name);
    else if (isObject(member)) total = removeInheritedNames(member, total);
  }
  return total;
}

/** Converts the members. Reports those whose conversion throws, for example `new Date(1n)` or a `@Transform` that expects text. */
function convert(dto: Type, known: object): object {
  const toInstance = (members: object) => plainToInstance(dto, members, { exposeDefaultValues: true }) as object;
  try {
    return toInstance(known);
  } catch (error) {
    const invalid = Object.entries(known).filter(([name, value]) => {
      try {
        return !toInstance({ [name]: value as unknown });
      } catch {
        return true;
      }
    });
    if (invalid.length === 0) throw error;
    throw new DomainError(INVALID_REQUEST, invalid.map(([name]) => `${name} has an invalid type`).join('; '), { cause: error });
  }
}

/** Converts members that have a `parse` function, and removes unknown members of nested DTOs. Returns the paths of removed members. */
function readMembers(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => readMembers(item, `${path}${index}.`));
  if (!isObject(value) || typeof value.constructor !== 'function') return [];
  const declared = declaredMembers(value.constructor as Type);
  if (declared.size === 0) return [];
  return Object.entries(value).flatMap(([name, received]: [string, unknown]) => {
    const member = declared.get(name);
    if (!member && path !== '') {
      Reflect.deleteProperty(value, name);
      return [path + name];
    }
    if (member?.parse) Reflect.set(value, name, member.parse(received));
    return readMembers(received, `${path}${name}.`);
  });
}

function messagesOf({ property, constraints = {}, children = [] }: ValidationError, path = ''): string[] {
  if ('unknownValue' in constraints) throw new Error(`${path} needs @Type with a class that has validation rules.`);
  const at = path === '' ? property : `${path}.${property}`;
  // Decorators run from last to first.
  const messages = Object.values(constraints).reverse();
  return [
    ...messages.map((message) => (message.startsWith(`${property} `) ? at + message.slice(property.length) : `${at}: ${message}`)),
    ...children.flatMap((child) => messagesOf(child, at)),
  ];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
