import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { declaredMembers } from './declared-members.js';
import { unknownMember } from './preference.guard.js';

/** class-transformer calls itself for each level, so deep values would overflow the stack. */
const MAX_DEPTH = 100;

/**
 * Converts a body or query to an instance of its class by class-transformer, and validates it by class-validator.
 * @throws DomainError which names every invalid member and, if `strict`, every unknown one
 */
export function validateByLibraries(dto: Type, source: object, strict = false): object {
  const declared = declaredMembers(dto);
  // Unknown members never reach a prototype.
  const known = Object.fromEntries(Object.entries(source).filter(([name]) => declared.has(name)));
  removeInheritedNames(known);
  const instance = plainToInstance(dto, known, { exposeDefaultValues: true }) as Record<string, unknown>;
  for (const [name, { read }] of declared) if (read && Object.hasOwn(instance, name)) instance[name] = read(instance[name]);
  const violations = validateSync(instance, { forbidUnknownValues: false, stopAtFirstError: true });
  const messages = [
    ...violations.flatMap(({ constraints }) => Object.values(constraints ?? {})),
    ...(strict
      ? Object.keys(source)
          .filter((name) => !declared.has(name))
          .map(unknownMember('member'))
      : []),
  ];
  if (messages.length > 0) throw new DomainError(INVALID_REQUEST, messages.join('; '));
  return instance;
}

/** Removes members such as `constructor` and `toString` at any depth: class-transformer drops them too, but calls them before. */
function removeInheritedNames(value: object, depth = 0): void {
  if (depth > MAX_DEPTH) throw new HttpError(HTTP_ERRORS.malformedJson, 'The body is nested too deeply.');
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (name in Object.prototype) Reflect.deleteProperty(value, name);
    else if (isObject(member)) removeInheritedNames(member, depth + 1);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
