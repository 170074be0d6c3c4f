import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ReceivedBody, splitUnquoted } from '../http/request-body.js';
import { declaredMembers } from './declared-members.js';
import { unknownNameMessage, validateWithClassValidator } from './validate-with-class-validator.js';

/** RouteParamtypes.QUERY of Nest. */
const QUERY = '4';

/** Rejects unknown query parameters and body members if the request has `Prefer: handling=strict` (RFC 7240). */
@Injectable()
export class PreferenceGuard implements CanActivate {
  private readonly queryTypes = new Map<object, readonly Type[]>();

  canActivate(context: ExecutionContext): true {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { prefer } = request.headers;
    // Public routes have no principal, and nothing to check.
    if (prefer === undefined || !request.principal || !prefersStrictHandling(String(prefer))) return true;
    reply.header('preference-applied', 'handling=strict');
    const body = request.body as ReceivedBody | undefined;
    if (body) body.strict = true;
    const query = request.query as object;
    const types = this.queryTypesOf(context);
    const unknown = Object.keys(query).filter((name) => !types.some((type) => declaredMembers(type).has(name)));
    if (unknown.length === 0) return true;
    // Throws an error that also names the invalid values of known parameters.
    for (const type of types) validateWithClassValidator(type, query, 'query parameter');
    throw new DomainError(INVALID_REQUEST, unknown.map((name) => unknownNameMessage('query parameter', name)).join('; '));
  }

  private queryTypesOf(context: ExecutionContext): readonly Type[] {
    const handler = context.getHandler();
    let types = this.queryTypes.get(handler);
    if (!types) {
      types = readQueryTypes(context.getClass(), handler.name);
      this.queryTypes.set(handler, types);
    }
    return types;
  }
}

/** Returns the classes of the handler's `@Query()` parameters. */
function readQueryTypes(controller: Type, method: string): readonly Type[] {
  const routeArguments = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, { index: number }>;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ?? []) as Type[];
  return Object.entries(routeArguments)
    .filter(([key]) => key.startsWith(`${QUERY}:`))
    .flatMap(([, { index }]) => types[index] ?? []);
}

/** Returns whether the first `handling` of a Prefer field (RFC 7240, section 2) is `strict`. Takes linear time. */
export function prefersStrictHandling(field: string): boolean {
  for (const preference of splitUnquoted(field, ',')) {
    const [setting = ''] = splitUnquoted(preference, ';');
    const equals = setting.indexOf('=');
    const name = (equals < 0 ? setting : setting.slice(0, equals)).trim();
    if (name.toLowerCase() !== 'handling') continue;
    return equals >= 0 && /^(?:strict|"strict")$/i.test(setting.slice(equals + 1).trim());
  }
  return false;
}
