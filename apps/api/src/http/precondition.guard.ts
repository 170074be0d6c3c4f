import { DomainError, PRECONDITION_FAILED } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'QUERY']);

/**
 * Rejects changes with a precondition that the operation does not evaluate: it must not be performed if the condition is false
 * (RFC 9110, section 13.1). `If-Match: *` is only false for a POST, whose result does not exist yet. There are no modification dates, so conditions on them are ignored.
 */
@Injectable()
export class PreconditionGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [{ method, headers, routeOptions }] = context.getArgs<[FastifyRequest]>();
    if (SAFE_METHODS.has(method)) return true;
    const match = routeOptions.config.evaluatesIfMatch ? undefined : headers['if-match'];
    const unsupported =
      headers['if-none-match'] !== undefined
        ? 'If-None-Match'
        : match !== undefined && (method === 'POST' || match.trim() !== '*')
          ? 'If-Match'
          : undefined;
    if (unsupported !== undefined) throw new DomainError(PRECONDITION_FAILED, `This operation does not support ${unsupported}; remove it.`);
    return true;
  }
}
