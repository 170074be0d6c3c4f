import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError, PRECONDITION_FAILED } from '@animal-store/kernel';
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
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { ReceivedBody } from '../http/request-body.js';
import { CompiledDto, unknownNameMessage } from './compiled-dto.js';
import { parseJson } from './parse-json.js';

/** Values of RouteParamtypes of Nest. */
const PARAMETER_TYPES = { body: '3', query: '4' } as const;

type Source = keyof typeof PARAMETER_TYPES;

/**
 * Converts bodies and query strings to validated instances of the handler's DTO. `receiveBodies` has buffered the bytes of the body, `parseJson`
 * makes integers bigints, and `CompiledDto` converts and checks the members. On a route with `@ReceivesBytes`, the pipe receives the body as
 * a Buffer.
 */
@Injectable()
export class ValidationPipe implements PipeTransform, OnModuleInit {
  constructor(@Optional() @Inject(ModulesContainer) private readonly modules: ModulesContainer = new ModulesContainer()) {}

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body' && type !== 'query') return value;
    if (metatype === Buffer) return receiveBytes(value as ReceivedBody | undefined);
    const dto = compiledDto(metatype, type);
    if (type === 'query') return dto.parse(value as object);
    const body = value as ReceivedBody | undefined;
    return dto.parse(parseObject(body), body?.strict ? 'member' : undefined);
  }

  /** Compiles the DTOs of all handlers, so that one that cannot be compiled prevents the start. */
  onModuleInit(): void {
    const scanner = new MetadataScanner();
    for (const { metatype } of [...this.modules.values()].flatMap(({ controllers }) => [...controllers.values()])) {
      const controller = metatype as Type;
      for (const method of scanner.getAllMethodNames(controller.prototype as object)) {
        const where = `${controller.name}.${method}: `;
        const bodies = dtosOf(controller, method, 'body');
        if (receivesBytes(controller, method) !== bodies.includes(Buffer))
          throw new Error(`${where}a Buffer is the type of the @Body() of a route with @ReceivesBytes, and of no other.`);
        for (const dto of bodies) if (dto !== Buffer) compiledDto(dto, 'body', where);
        for (const dto of dtosOf(controller, method, 'query')) compiledDto(dto, 'query', where);
      }
    }
  }
}

async function receiveBytes(body: ReceivedBody | undefined): Promise<Buffer> {
  const result = body && 'receive' in body ? await body.receive() : undefined;
  if (result && 'error' in result) throw result.error;
  if (!result || result.bytes.length === 0) throw new DomainError(INVALID_REQUEST, 'The body must not be empty.');
  return result.bytes;
}

function parseObject(body: ReceivedBody | undefined): object {
  if (body && 'error' in body) throw body.error;
  if (!body || !('bytes' in body) || body.bytes.length === 0)
    throw new DomainError(INVALID_REQUEST, 'A JSON object is required as the body.');
  const value = parseJson(body.bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError(INVALID_REQUEST, 'The body must be a JSON object.');
  }
  return value;
}

/** Returns the classes of a handler's `@Body()` or `@Query()` parameters. That of a parameter such as `@Body('name')` is Object. */
function dtosOf(controller: Type, method: string, source: Source): readonly Type[] {
  const routeArguments = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ?? []) as Type[];
  return Object.entries(routeArguments)
    .filter(([key]) => key.startsWith(`${PARAMETER_TYPES[source]}:`))
    .map(([, { index, data }]) => (data === undefined && types[index]) || Object);
}

function receivesBytes(controller: Type, method: string): boolean {
  const handler = (controller.prototype as Record<string, object>)[method] as object;
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as FastifyContextConfig | undefined)?.acceptedBytes !== undefined;
}

/** @throws Error if the parameter's type has no validation rules, or an asynchronous one */
function compiledDto(metatype: Type | undefined, source: Source, where = ''): CompiledDto {
  const compiled = metatype && CompiledDto.of(metatype);
  if (!compiled) throw new Error(`${where}a ${source} parameter needs a class with validation rules as its type, and no name.`);
  return compiled;
}

/** Rejects unknown query parameters and body members if the request has `Prefer: handling=strict` (RFC 7240). */
@Injectable()
export class PreferenceGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { prefer } = request.headers;
    // What is not an operation has nothing to check.
    if (prefer === undefined || request.operation === undefined || !prefersStrictHandling(String(prefer))) return true;
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

/** Rejects changes whose precondition is not evaluated (RFC 9110, section 13.1). `If-Match: *` is only false for a POST, which creates. */
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
