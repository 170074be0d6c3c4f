import { INVALID_REQUEST } from '@animal-store/http-kit';
import { DomainError } from '@animal-store/kernel';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReceivedBody } from '../http/request-body.js';
import { CompiledDto, unknownNameMessage } from './compiled-dto.js';
import { dtosOf } from './validation.pipe.js';

/** Rejects unknown query parameters and body members if the request has `Prefer: handling=strict` (RFC 7240). */
@Injectable()
export class PreferenceGuard implements CanActivate {
  private readonly queries = new Map<object, readonly CompiledDto[]>();

  canActivate(context: ExecutionContext): true {
    const [request, reply] = context.getArgs<[FastifyRequest, FastifyReply]>();
    const { prefer } = request.headers;
    // Public routes have no principal, and nothing to check.
    if (prefer === undefined || !request.principal || !prefersStrictHandling(String(prefer))) return true;
    reply.header('preference-applied', 'handling=strict');
    const body = request.body as ReceivedBody | undefined;
    if (body) body.strict = true;
    const query = request.query as object;
    const dtos = this.queryDtosOf(context);
    const unknown = Object.keys(query).filter((name) => !dtos.some((dto) => dto.member(name)));
    if (unknown.length === 0) return true;
    // Throws an error that also names the invalid values of known parameters.
    for (const dto of dtos) dto.parse(query, 'query parameter');
    throw new DomainError(INVALID_REQUEST, unknown.map((name) => unknownNameMessage('query parameter', name)).join('; '));
  }

  private queryDtosOf(context: ExecutionContext): readonly CompiledDto[] {
    const handler = context.getHandler();
    let dtos = this.queries.get(handler);
    if (!dtos) {
      dtos = dtosOf(context.getClass(), handler.name, 'query').flatMap((type) => CompiledDto.of(type) ?? []);
      this.queries.set(handler, dtos);
    }
    return dtos;
  }
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

const PARTS = {
  ',': /(?:[^",]|"(?:[^"\\]|\\.)*"?)*/g,
  ';': /(?:[^";]|"(?:[^"\\]|\\.)*"?)*/g,
};

/** Splits a field at a separator outside of quoted strings (RFC 9110, section 5.6.4) into trimmed parts. Empty parts may be added after others. Takes linear time. */
function splitUnquoted(field: string, separator: keyof typeof PARTS): string[] {
  return (field.match(PARTS[separator]) ?? []).map((part) => part.trim());
}
