import { isUtf8 } from 'node:buffer';
import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError, int64FromJsonNumber, PRECONDITION_FAILED } from '@animal-store/kernel';
import {
  type ArgumentMetadata,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type OnModuleInit,
  Optional,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import type { ReceivedBody } from '../http/request-body.js';
import { CompiledDto, unknownNameMessage } from './compiled-dto.js';

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
function dtosOf(controller: Type, method: string, source: Source): readonly Type[] {
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

/** Matches numbers that need their source text: with a fraction, an exponent or more than 15 digits. Also matches inside strings. */
const MAY_LOSE_DIGITS = /[0-9](?:[.eE]|[0-9]{15})/;

const MAX_DEPTH = 64;
const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}') as unknown as number[];

interface ReviverContext {
  readonly source?: string;
}

/**
 * Parses JSON. Numbers whose value is an int64 become exact bigints; other numbers remain numbers, also those beyond 2^53 with a fraction
 * or an exponent, because their sender has lost digits.
 * @throws HttpError malformed_json if the text is not JSON, not UTF-8, or nested too deeply
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  // Before recursive code: JSON.parse with a reviver, and the DTOs.
  if (isNestedDeeply(bytes)) throw malformed(`The body is nested more than ${String(MAX_DEPTH)} levels deep.`);
  const text = bytes.toString('utf8');
  try {
    return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactIntegers) : withBigints(JSON.parse(text));
  } catch {
    throw malformed('The body is not well-formed JSON.');
  }
}

function malformed(message: string): HttpError {
  return new HttpError(HTTP_ERRORS.malformedJson, message);
}

function isNestedDeeply(bytes: Buffer): boolean {
  if (bytes.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) isInString = !isInString;
    else if (isInString) i += byte === BACKSLASH ? 1 : 0;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>;
    // The assignment is safe, even for `__proto__`, because each name is an own property.
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'number' || typeof member === 'object') members[name] = withBigints(member);
    }
  }
  return value;
}

// The reviver of ECMAScript 2026 gets the source text of a primitive in its third argument.
function exactIntegers(_key: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const isInexact = !Number.isSafeInteger(value) && /[.eE]/.test(context.source);
  return isInexact ? value : (int64FromJsonNumber(context.source) ?? value);
}

/** Rejects unknown query parameters and body members if the request has `Prefer: handling=strict` (RFC 7240). */
@Injectable()
export class PreferenceGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { prefer } = request.headers;
    // Public routes have no principal, and nothing to check.
    if (prefer === undefined || !request.principal || !prefersStrictHandling(String(prefer))) return true;
    reply.header('preference-applied', 'handling=strict');
    const body = request.body as ReceivedBody | undefined;
    if (body) body.strict = true;
    const query = request.query as object;
    const dtos = dtosOf(context.getClass(), context.getHandler().name, 'query').flatMap((type) => CompiledDto.of(type) ?? []);
    const unknown = Object.keys(query).filter((name) => !dtos.some((dto) => dto.has(name)));
    if (unknown.length === 0) return true;
    // Throws an error that also names the invalid values of known parameters.
    for (const dto of dtos) dto.parse(query, 'query parameter');
    throw new DomainError(INVALID_REQUEST, unknown.map((name) => unknownNameMessage('query parameter', name)).join('; '));
  }
}

const QUOTED = /"(?:[^"\\]|\\.)*"?/g;

/** Returns whether the first `handling` of a Prefer field (RFC 7240, section 2) is `strict`, which may be quoted. Takes linear time. */
export function prefersStrictHandling(field: string): boolean {
  const unquoted = field.replace(QUOTED, (text) => (text.toLowerCase() === '"strict"' ? 'strict' : '""'));
  const settings = unquoted.split(',').map((preference) => preference.split(';', 1).join().trim());
  return /^handling\s*=\s*strict$/i.test(settings.find((setting) => /^handling(?:\s*=|$)/i.test(setting)) ?? '');
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'QUERY']);

/**
 * Rejects changes with a precondition that the operation does not evaluate: it must not be performed if the condition is false
 * (RFC 9110, section 13.1). `If-Match: *` is only false for a POST, whose result does not exist yet. There are no modification dates, so conditions on them are ignored.
 */
@Injectable()
export class PreconditionGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [request] = context.getArgs<[FastifyRequest]>();
    const { method, headers } = request;
    if (SAFE_METHODS.has(method)) return true;
    if (headers['if-none-match'] !== undefined) throw unsupported('If-None-Match');
    const match = headers['if-match'];
    const isFalse = match !== undefined && (method === 'POST' || match.trim() !== '*');
    if (isFalse && !request.routeOptions.config.evaluatesIfMatch) throw unsupported('If-Match');
    return true;
  }
}

const unsupported = (name: string) => new DomainError(PRECONDITION_FAILED, `This operation does not support ${name}; remove it.`);
