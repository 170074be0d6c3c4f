import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { inheritTransformationMetadata } from '@nestjs/mapped-types';
import type { ReceivedBody } from '../http/request-body.js';
import { declaredMembers } from './declared-members.js';
import { parseJson } from './json.js';
import { validateWithClassValidator } from './validate-with-class-validator.js';

/** Converts bodies and query strings to validated instances of the handler's DTO. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    const compiled = compiledDtoOf(metatype, type);
    const dto = metatype as Type;
    if (type === 'query') return compiled(value as Record<string, unknown>) ?? validateWithClassValidator(dto, value as object);
    const body = value as ReceivedBody | undefined;
    const source = parseObject(body);
    if (body?.strict) return validateWithClassValidator(dto, source, 'member');
    return compiled(source as Record<string, unknown>) ?? validateWithClassValidator(dto, source);
  }
}

/** Returns a valid instance, or undefined if class-transformer and class-validator must decide. They also write the error message. */
export type CompiledDto = (source: Readonly<Record<string, unknown>>) => object | undefined;

const compiledDtos = new Map<Type, CompiledDto>();

/** @throws Error if the parameter's type has no validation rules */
function compiledDtoOf(metatype: Type | undefined, type: string): CompiledDto {
  const known = metatype && compiledDtos.get(metatype);
  if (known) return known;
  if (!metatype || declaredMembers(metatype).size === 0) {
    throw new Error(`A ${type} parameter needs a class with validation rules as its type.`);
  }
  const compiled = compileDto(metatype);
  compiledDtos.set(metatype, compiled);
  return compiled;
}

function parseObject(body: ReceivedBody | undefined): object {
  if (body && 'rejection' in body) throw body.rejection;
  if (!body || body.bytes.length === 0) throw new DomainError(INVALID_REQUEST, 'A JSON object is required as the body.');
  const value = parseJson(body.bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError(INVALID_REQUEST, 'The body must be a JSON object.');
  }
  return value;
}

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
