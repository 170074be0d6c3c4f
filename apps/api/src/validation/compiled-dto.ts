import type { Type } from '@nestjs/common';
import { inheritTransformationMetadata } from '@nestjs/mapped-types';
import { declaredMembers } from './declared-members.js';

/** Returns a valid instance, or undefined if the libraries must decide. They also write the error message. */
export type CompiledDto = (source: Readonly<Record<string, unknown>>) => object | undefined;

/**
 * Compiles a class whose rules all come from `@animal-store/http-contract` to one function that calls their predicates.
 * Other classes, and classes with decorators of class-transformer, compile to a function that always returns undefined.
 */
export function compileDto(dto: Type): CompiledDto {
  const members = [...declaredMembers(dto)].map(([name, { read, rules }]) => ({
    name,
    read,
    isCompiled: rules !== undefined && !(name in (dto.prototype as object)),
    mayBeAbsent: rules?.some(({ holds }) => !holds),
    predicates: rules?.flatMap(({ holds }) => holds ?? []) ?? [],
  }));
  if (isTransformed(dto) || !members.every(({ isCompiled }) => isCompiled)) return () => undefined;

  return (source) => {
    const instance = new dto() as Record<string, unknown>;
    for (const { name, read } of members) {
      if (!Object.hasOwn(source, name)) continue;
      const value = source[name];
      // class-transformer copies objects, and replaces undefined by the default.
      if (typeof value === 'object' || value === undefined) return undefined;
      instance[name] = read ? read(value) : value;
    }
    for (const { name, mayBeAbsent, predicates } of members) {
      const value = instance[name];
      if (mayBeAbsent && value === undefined) continue;
      for (const holds of predicates) if (!holds(value, instance)) return undefined;
    }
    return instance;
  };
}

/** Whether the class or one of its base classes has a decorator of class-transformer. Its own storage is not public. */
function isTransformed(dto: Type): boolean {
  let found = false;
  inheritTransformationMetadata(dto, class {}, () => {
    found = true;
    return false;
  });
  return found;
}
