import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { type CompiledDto, compileDto } from './compiled-dto.js';
import { declaredMembers } from './declared-members.js';
import { MalformedJsonError, parseJson } from './json.js';
import type { ReceivedBody } from '../sockets/request-body.js';
import { validateWithClassValidator } from './validate-with-class-validator.js';

/** Converts bodies and query strings to validated instances of the handler's DTO. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    if (!metatype || declaredMembers(metatype).size === 0) {
      throw new Error(`A ${type} parameter needs a class with validation rules as its type.`);
    }
    if (type === 'query') return toInstance(metatype, value as object);
    const body = value as ReceivedBody | undefined;
    return toInstance(metatype, parseObject(body), body?.strict);
  }
}

const compiledDtos = new Map<Type, CompiledDto>();

function compiledDtoOf(metatype: Type): CompiledDto {
  let dto = compiledDtos.get(metatype);
  if (!dto) {
    dto = compileDto(metatype);
    compiledDtos.set(metatype, dto);
  }
  return dto;
}

function toInstance(metatype: Type, source: object, strict = false): object {
  return (
    (strict ? undefined : compiledDtoOf(metatype)(source as Record<string, unknown>)) ??
    validateWithClassValidator(metatype, source, strict ? 'member' : undefined)
  );
}

function parseObject(body: ReceivedBody | undefined): object {
  if (body && 'refusal' in body) throw body.refusal;
  if (!body || body.bytes.length === 0) throw new DomainError(INVALID_REQUEST, 'A JSON object is required as the body.');
  const value = parse(body.bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError(INVALID_REQUEST, 'The body must be a JSON object.');
  }
  return value;
}

function parse(bytes: Buffer): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof MalformedJsonError) throw new HttpError(HTTP_ERRORS.malformedJson, error.message);
    throw error;
  }
}
