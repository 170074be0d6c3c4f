import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import { type ArgumentMetadata, Inject, Injectable, type OnModuleInit, Optional, type PipeTransform, type Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { ReceivedBody } from '../http/request-body.js';
import { CompiledDto } from './compiled-dto.js';
import { parseJson } from './parse-json.js';

/** Values of RouteParamtypes of Nest. */
const PARAMETER_TYPES = { body: '3', query: '4' } as const;

type Source = keyof typeof PARAMETER_TYPES;

/** Converts bodies and query strings to validated instances of the handler's DTO. */
@Injectable()
export class ValidationPipe implements PipeTransform, OnModuleInit {
  constructor(@Optional() @Inject(ModulesContainer) private readonly modules: ModulesContainer = new ModulesContainer()) {}

  /** Compiles the DTOs of all handlers, so that one that cannot be compiled prevents the start. */
  onModuleInit(): void {
    const scanner = new MetadataScanner();
    for (const { metatype } of [...this.modules.values()].flatMap(({ controllers }) => [...controllers.values()])) {
      for (const method of scanner.getAllMethodNames(metatype?.prototype as object)) {
        for (const source of ['body', 'query'] as const)
          dtosOf(metatype as Type, method, source).forEach((dto) => compiledDto(dto, source));
      }
    }
  }

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    const dto = compiledDto(metatype, type);
    if (type === 'query') return dto.parse(value as object);
    const body = value as ReceivedBody | undefined;
    return dto.parse(parseObject(body), body?.strict ? 'member' : undefined);
  }
}

/** Returns the classes of a handler's `@Body()` or `@Query()` parameters. */
export function dtosOf(controller: Type, method: string, source: Source): readonly Type[] {
  const routeArguments = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, { index: number }>;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ?? []) as Type[];
  return Object.entries(routeArguments)
    .filter(([key]) => key.startsWith(`${PARAMETER_TYPES[source]}:`))
    .flatMap(([, { index }]) => types[index] ?? []);
}

/** @throws Error if the parameter's type has no validation rules, or an asynchronous one */
function compiledDto(metatype: Type | undefined, source: Source): CompiledDto {
  const compiled = metatype && CompiledDto.of(metatype);
  if (!compiled) throw new Error(`A ${source} parameter needs a class with validation rules as its type.`);
  return compiled;
}

function parseObject(body: ReceivedBody | undefined): object {
  if (body && 'error' in body) throw body.error;
  if (!body || body.bytes.length === 0) throw new DomainError(INVALID_REQUEST, 'A JSON object is required as the body.');
  const value = parseJson(body.bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError(INVALID_REQUEST, 'The body must be a JSON object.');
  }
  return value;
}
