import { INSUFFICIENT_SCOPE } from '@animal-store/access-domain';
import { PUBLIC, REQUIRED_SCOPES } from '@animal-store/http-contract';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CHALLENGE } from './authentication.guard.js';

/** Requires the scopes of the route. A route that declares neither scopes nor that it is public is closed to everybody. */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets)) return true;
    const required = this.reflector.getAllAndOverride<readonly string[] | undefined>(REQUIRED_SCOPES, targets) ?? [];
    const http = context.switchToHttp();
    const granted = http.getRequest<FastifyRequest>().principal?.scopes ?? [];
    if (required.length > 0 && required.every((scope) => granted.includes(scope))) return true;
    http.getResponse<FastifyReply>().header('WWW-Authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`);
    throw new DomainError(INSUFFICIENT_SCOPE);
  }
}
