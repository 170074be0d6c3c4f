import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Gives the 200 of each route that is `@Revalidated` an ETag over body and Link, and answers 304 where the client has it. */
export function tagEntities(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    if (route.config?.revalidated) route.onSend = [tagEntity, ...[route.onSend ?? []].flat()];
  });
}

function tagEntity(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: (error: null, payload: unknown) => void): void {
  if (reply.statusCode !== 200 || typeof payload !== 'string') {
    done(null, payload);
    return;
  }
  const link = reply.getHeader('link');
  const tag = `"${hash('sha1', link === undefined ? payload : `${payload}\n${String(link)}`, 'base64url')}"`;
  reply.header('ETag', tag);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matches(known, tag)) {
    reply.code(304).removeHeader('Content-Type');
    done(null, '');
  } else {
    done(null, payload);
  }
}

/** RFC 9110, section 13.1.2: by weak comparison. */
function matches(field: string, tag: string): boolean {
  return field.trim() === '*' || field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
