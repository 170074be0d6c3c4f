import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';

const known = new Map<Type, ReadonlySet<string>>();

/** The members of a DTO: those that have a validation rule. */
export function declaredMembers(dto: Type): ReadonlySet<string> {
  let members = known.get(dto);
  if (!members) {
    members = new Set(
      getMetadataStorage()
        .getTargetValidationMetadatas(dto, '', false, false)
        .map(({ propertyName }) => propertyName),
    );
    known.set(dto, members);
  }
  return members;
}
