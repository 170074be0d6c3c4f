import { INVALID_REQUEST } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { declaredMembers } from './declared-members.js';
import { prefersStrictHandling } from './prefers-strict-handling.js';
import type { ReceivedBody } from './request-body.js';

/** RouteParamtypes.QUERY of Nest. */
const QUERY = '4';

/** Rejects unknown query parameters and body members if the request has `Prefer: handling=strict` (RFC 7240). */
@Injectable()
export class PreferenceGuard implements CanActivate {
  private readonly parametersOf = new Map<object, ReadonlySet<string>>();

  canActivate(context: ExecutionContext): true {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { prefer } = request.headers;
    // Public routes have no principal, and nothing to check.
    if (prefer === undefined || !request.principal || !prefersStrictHandling(String(prefer))) return true;
    reply.header('Preference-Applied', 'handling=strict');
    const body = request.body as ReceivedBody | undefined;
    if (body) body.strict = true;
    const known = this.parameters(context);
    const unknown = Object.keys(request.query as object).filter((name) => !known.has(name));
    if (unknown.length > 0) throw new DomainError(INVALID_REQUEST, unknown.map(unknownNameMessage('query parameter')).join('; '));
    return true;
  }

  private parameters(context: ExecutionContext): ReadonlySet<string> {
    const handler = context.getHandler();
    let parameters = this.parametersOf.get(handler);
    if (!parameters) {
      parameters = queryParametersOf(context.getClass(), handler.name);
      this.parametersOf.set(handler, parameters);
    }
    return parameters;
  }
}

/** Returns a function that creates the error message for an unknown name. Long names are truncated. */
export const unknownNameMessage =
  (kind: string) =>
  (name: string): string =>
    `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}`;

function queryParametersOf(controller: Type, method: string): ReadonlySet<string> {
  const routeArguments = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<string, { index: number }>;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ?? []) as Type[];
  const dtos = Object.entries(routeArguments)
    .filter(([key]) => key.startsWith(`${QUERY}:`))
    .flatMap(([, { index }]) => types[index] ?? []);
  return new Set(dtos.flatMap((dto) => [...declaredMembers(dto).keys()]));
}
