import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type ArgumentMetadata, Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { MalformedJsonError, parseJson } from './json.js';
import type { ReceivedBody } from './request-body.js';

/** Turns bodies and query strings into checked instances of the DTO that the handler asks for. */
@Injectable()
export class ValidationPipe implements PipeTransform {
  private readonly membersOf = new Map<Type, readonly string[]>();

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    if (!metatype || this.members(metatype).length === 0) {
      throw new Error(`A ${type} parameter needs a class with validation rules as its type.`);
    }
    return this.toInstance(metatype, type === 'body' ? jsonObject(value as ReceivedBody | undefined) : (value as object));
  }

  private toInstance(metatype: Type, source: object): object {
    // Only declared members, so that nothing a client sends can reach a prototype.
    const known = Object.fromEntries(
      this.members(metatype)
        .filter((member) => Object.hasOwn(source, member))
        .map((member) => [member, (source as Record<string, unknown>)[member]]),
    );
    const instance = plainToInstance(metatype, known, { exposeDefaultValues: true }) as object;
    const violations = validateSync(instance, { forbidUnknownValues: false, stopAtFirstError: true });
    if (violations.length > 0) {
      throw new DomainError(INVALID_REQUEST, violations.flatMap(({ constraints }) => Object.values(constraints ?? {})).join('; '));
    }
    return instance;
  }

  private members(metatype: Type): readonly string[] {
    let members = this.membersOf.get(metatype);
    if (!members) {
      const rules = getMetadataStorage().getTargetValidationMetadatas(metatype, '', false, false);
      members = [...new Set(rules.map(({ propertyName }) => propertyName))];
      this.membersOf.set(metatype, members);
    }
    return members;
  }
}

function jsonObject(body: ReceivedBody | undefined): object {
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
