import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Representation } from './json-adapter.js';

/** Gives the 200 of each route that is `@Revalidated` an ETag over body and Link, and answers 304 where the client has it. */
export function tagEntities(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.revalidated) return;
    const own = [route.onSend ?? []].flat();
    // Fastify's own hook on HEAD routes counts the body, also that of a 304.
    route.onSend = route.method === 'HEAD' ? [tagEntity, ...own, leaveOutLength] : [tagEntity, ...own];
  });
}

type Done = (error: null, payload: unknown) => void;

/** A 304 has no Content-Length unless it is that of the 200 (RFC 9110, section 8.6). */
function leaveOutLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (reply.statusCode === 304) reply.removeHeader('Content-Length');
  done(null, payload);
}

function tagEntity(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  const { representation } = reply;
  if (reply.statusCode !== 200 || !representation) {
    done(null, payload);
    return;
  }
  const tag = entityTag(representation, reply.getHeader('link') as string | undefined);
  reply.header('ETag', tag);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matches(known, tag)) {
    reply.code(304).removeHeader('Content-Type');
    done(null, request.method === 'HEAD' ? '' : null);
  } else {
    done(null, payload);
  }
}

function entityTag(representation: Representation, link: string | undefined): string {
  const { content, entityTag: known } = representation;
  if (known && known.link === link) return known.value;
  const digest = digestOf(content);
  // Not of both as one text: a page is long, and would be copied for it.
  const value = `"${link === undefined ? digest : digestOf(digest + link)}"`;
  representation.entityTag = { value, link };
  return value;
}

function digestOf(content: string | Buffer): string {
  return hash('sha1', content, 'base64url');
}

/** RFC 9110, section 13.1.2: by weak comparison. */
function matches(field: string, tag: string): boolean {
  return field.trim() === '*' || field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
