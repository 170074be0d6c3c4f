import type { Type } from '@nestjs/common';
import { inheritTransformationMetadata } from '@nestjs/mapped-types';
import { declaredMembers } from './declared-members.js';

/** Returns a valid instance, or undefined if class-transformer and class-validator must decide. They also write the error message. */
export type CompiledDto = (source: Readonly<Record<string, unknown>>) => object | undefined;

/**
 * Compiles a DTO class to a function that calls the predicates of its rules. If not all rules come from `@animal-store/http-contract`, or
 * if the class has decorators of class-transformer, the function always returns undefined.
 */
export function compileDto(dto: Type): CompiledDto {
  const members = [...declaredMembers(dto)].map(([name, { parse, rules }]) => ({
    name,
    parse,
    isCompiled: rules !== undefined && !(name in (dto.prototype as object)),
    mayBeAbsent: rules?.some(({ isValid }) => !isValid),
    predicates: rules?.flatMap(({ isValid }) => isValid ?? []) ?? [],
  }));
  if (isTransformed(dto) || !members.every(({ isCompiled }) => isCompiled)) return () => undefined;

  return (source) => {
    const instance = new dto() as Record<string, unknown>;
    for (const { name, parse } of members) {
      if (!Object.hasOwn(source, name)) continue;
      const value = source[name];
      // class-transformer copies objects and replaces undefined by the default.
      if (typeof value === 'object' || value === undefined) return undefined;
      instance[name] = parse ? parse(value) : value;
    }
    for (const { name, mayBeAbsent, predicates } of members) {
      const value = instance[name];
      if (mayBeAbsent && value === undefined) continue;
      for (const isValid of predicates) if (!isValid(value, instance)) return undefined;
    }
    return instance;
  };
}

/** Returns whether the class or a base class has a decorator of class-transformer, whose metadata storage is not public. */
function isTransformed(dto: Type): boolean {
  let found = false;
  inheritTransformationMetadata(dto, class {}, () => {
    found = true;
    return false;
  });
  return found;
}
