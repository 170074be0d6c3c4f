import { entityTagOf, parseIfMatch } from '@animal-store/http-kit';
import { DomainError, PRECONDITION_FAILED } from '@animal-store/kernel';
import type { FastifyInstance, FastifyReply, onSendHookHandler } from 'fastify';
import type { Representation } from './json-adapter.js';

/**
 * Adds an ETag of body and Link to each 200 of a `@Revalidated` route, and to each 200 and 201 of a route with `@IfMatch` or `@SendsEntityTag`.
 * On a `@Revalidated` route, also uses the ETag of the handler, and responds with 412 if `If-Match`, or with 304 if `If-None-Match` says so.
 */
export function addEntityTags(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const hooks = [route.onSend ?? []].flat();
    if (route.config?.revalidated) hooks.unshift(revalidate);
    else if (route.config?.conditional) hooks.unshift(addEntityTag);
    if (route.method === 'HEAD') hooks.push(removeContentLength);
    route.onSend = hooks;
  });
}

/** Removes the Content-Length that Fastify sets on each response to HEAD: a 204 has none, and a 304 would need that of the 200. */
const removeContentLength: onSendHookHandler = (_request, reply, payload, done) => {
  if (reply.statusCode === 204 || reply.statusCode === 304) reply.removeHeader('content-length');
  done(null, payload);
};

const addEntityTag: onSendHookHandler = (_request, reply, payload, done) => {
  const { representation, statusCode } = reply;
  if (representation && (statusCode === 200 || statusCode === 201)) reply.header('etag', entityTag(representation, reply));
  done(null, payload);
};

const revalidate: onSendHookHandler = ({ headers, method }, reply, payload, done) => {
  const { representation } = reply;
  const tag = representation ? entityTag(representation, reply) : (reply.getHeader('etag') as string | undefined);
  if (reply.statusCode !== 200 || tag === undefined) {
    done(null, payload);
    return;
  }
  const { 'if-match': required, 'if-none-match': known } = headers;
  try {
    if (required !== undefined && !parseIfMatch(required)(tag))
      throw new DomainError(PRECONDITION_FAILED, 'If-Match does not contain the current ETag; remove the header.');
  } catch (error) {
    done(error as DomainError);
    return;
  }
  reply.header('etag', tag);
  const isKnown = known !== undefined && matches(known, tag);
  if (isKnown) reply.code(304).removeHeader('content-type').removeHeader('content-encoding').removeHeader('content-length');
  done(null, isKnown ? (method === 'HEAD' ? '' : null) : payload);
};

function entityTag(representation: Representation, reply: FastifyReply): string {
  const link = reply.getHeader('link') as string | undefined;
  const { text, entityTag: known } = representation;
  if (known && known.link === link) return known.value;
  const value = entityTagOf(text, link);
  representation.entityTag = { value, link };
  return value;
}

/** Returns whether an If-None-Match field matches the tag by weak comparison (RFC 9110, section 13.1.2). */
function matches(field: string, tag: string): boolean {
  return field.trim() === '*' || field.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === tag);
}
