import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { declaredMembers } from './declared-members.js';
import { unknownMember } from './preference.guard.js';

/**
 * Converts a body or query to an instance of its class by class-transformer, and validates it by class-validator.
 * @throws DomainError which names every invalid member and, if `strict`, every unknown one
 */
export function validateByLibraries(dto: Type, source: object, strict = false): object {
  const declared = declaredMembers(dto);
  // Unknown members never reach a prototype.
  const known = Object.fromEntries(Object.entries(source).filter(([name]) => declared.has(name)));
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
