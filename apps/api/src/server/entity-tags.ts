import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Representation } from './json-adapter.js';

/** Adds an ETag of body and Link to each 200 of a `@Revalidated` route. Responds with 304 if `If-None-Match` matches. */
export function addEntityTags(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.revalidated) return;
    const own = [route.onSend ?? []].flat();
    // Fastify's hook on HEAD routes sets Content-Length, even on a 304.
    route.onSend = route.method === 'HEAD' ? [addEntityTag, ...own, removeContentLength] : [addEntityTag, ...own];
  });
}

type Done = (error: null, payload: unknown) => void;

/** Removes Content-Length from a 304: it would have to be that of the 200 (RFC 9110, section 8.6). */
function removeContentLength(_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
}

function addEntityTag(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  const { representation } = reply;
  if (reply.statusCode !== 200 || !representation) {
    done(null, payload);
    return;
  }
  const tag = entityTag(representation, reply.getHeader('link') as string | undefined);
  reply.header('etag', tag);
  const known = request.headers['if-none-match'];
  if (known !== undefined && matches(known, tag)) {
    reply.code(304).removeHeader('content-type');
    done(null, request.method === 'HEAD' ? '' : null);
  } else {
    done(null, payload);
  }
}

function entityTag(representation: Representation, link: string | undefined): string {
  const { content, entityTag: known } = representation;
  if (known && known.link === link) return known.value;
  const digest = digestOf(content);
  // Hashed separately, because concatenation would copy the content.
  const value = `"${link === undefined ? digest : digestOf(digest + link)}"`;
  representation.entityTag = { value, link };
  return value;
}

function digestOf(content: string | Buffer): string {
  return hash('sha1', content, 'base64url');
}

/** Returns whether an If-None-Match field matches the tag by weak comparison (RFC 9110, section 13.1.2). */
function matches(field: string, tag: string): boolean {
  return field.trim() === '*' || field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
