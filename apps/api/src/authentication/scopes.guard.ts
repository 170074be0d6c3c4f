import { INSUFFICIENT_SCOPE } from '@animal-store/access-domain';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CHALLENGE, routeOf } from './route.js';

/** Requires the scopes of the route. Rejects all requests to routes that declare neither scopes nor `@Public`. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { authorization: required } = routeOf(context);
    if (required === 'public') return true;
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const granted = request.principal?.scopes ?? [];
    if (required.length > 0 && required.every((scope) => granted.includes(scope))) return true;
    reply.header('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
    throw new DomainError(INSUFFICIENT_SCOPE);
  }
}
