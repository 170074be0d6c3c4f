import { hash } from 'node:crypto';
import { DomainError, JsonText, type Precondition, PRECONDITION_FAILED, PRECONDITION_REQUIRED } from '@animal-store/kernel';
import { applyDecorators, Header, type Type } from '@nestjs/common';
import { ApiExtension, ApiHeader, ApiResponse } from '@nestjs/swagger';
import { toDto } from './responses.js';
import { documented, ExtendRouteConfig, HeaderValue, INTERNAL_EXTENSIONS, INVALID_REQUEST } from './routes.js';

const header = (description: string, example: string) => ({ description, required: true, schema: { type: 'string' }, example }) as const;

const ETAG = header('Identifies the body and the `Link` header of this response (RFC 9110).', '"2jmj7l5rSw0yVb_vlWAYkK_YBwk"');

/** Returns the ETag of a response with this body and `Link` header. */
export function entityTagOf(text: string, link?: string): string {
  // Clients store entity tags of this form. Concatenating costs less than a second digest.
  return `"${hash('sha1', link === undefined ? text : `${text}\n${link}`, 'base64url')}"`;
}

const CACHE_CONTROL = 'private, no-cache';

/** The OpenAPI `headers` of a response that caches may store but must revalidate. */
const REVALIDATION_HEADERS = {
  'Cache-Control': header('Caches must revalidate the response before each use.', CACHE_CONTROL),
  ETag: ETAG,
} as const;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether 200 responses have an ETag, and requests with a matching If-None-Match get a 304. */
    revalidated?: boolean;
    /** Whether 200 and 201 responses have an ETag. */
    conditional?: boolean;
    /** Whether the operation itself evaluates If-Match. */
    evaluatesIfMatch?: boolean;
  }
}

/** Adds an ETag and Cache-Control to the 200 of a GET operation, and responds with 304 if If-None-Match has that ETag. Documents both. */
export const Revalidated = (): MethodDecorator =>
  applyDecorators(
    ExtendRouteConfig({ revalidated: true }),
    Header('cache-control', CACHE_CONTROL),
    ApiHeader({
      name: 'If-None-Match',
      required: false,
      description: 'ETags of the cached responses, or `*`.',
      schema: { type: 'string' },
    }),
    ApiResponse({ status: 304, description: 'The cached response is current.' }),
    ApiExtension(INTERNAL_EXTENSIONS.revalidation, REVALIDATION_HEADERS),
  );

/** A strong or weak entity tag (RFC 9110, section 8.8.3). */
const TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
/** `*`, or a list of entity tags that may have empty elements (RFC 9110, section 5.6.1.2). */
const IF_MATCH = new RegExp(`^(?:\\*|[ \\t,]*${TAG}(?:[ \\t]*,[ \\t,]*${TAG})*[ \\t,]*)$`);

/**
 * Returns a function that compares a tag strongly with those of an If-Match header value (RFC 9110, section 13.1.1). Weak tags never match.
 * @throws DomainError INVALID_REQUEST if the value is not `*` or a list of entity tags
 */
export function parseIfMatch(field: string): (tag: string) => boolean {
  if (!IF_MATCH.test(field)) {
    throw new DomainError(INVALID_REQUEST, 'If-Match must be * or a list of ETags in double quotes, separated by commas');
  }
  const tags = field.match(new RegExp(TAG, 'g'));
  return (tag) => tags?.includes(tag) ?? true;
}

/** Returns the precondition of an If-Match header value. Throws like `parseIfMatch`. */
export function preconditionOf(field: string, type: Type<object>): Precondition {
  const matches = parseIfMatch(field);
  return (current) => {
    if (!matches(entityTagOf(JsonText.of(toDto(type, current)).text)))
      throw new DomainError(PRECONDITION_FAILED, 'The resource has changed; get it again and send its new ETag in If-Match.');
  };
}

/** Adds an ETag to each 200 and 201 of a change without `@IfMatch`, such as a creation, and documents it. */
export const SendsEntityTag = (): MethodDecorator =>
  applyDecorators(ExtendRouteConfig({ conditional: true }), ApiExtension(INTERNAL_EXTENSIONS.entityTag, { ETag: ETAG }));

/**
 * Injects the request's If-Match as a Precondition, documents it with its errors, and adds an ETag to each 200 and 201 of the operation.
 * @param options the type of the response to the GET, and whether the header is required
 */
export const IfMatch = ({ required, type }: { readonly required: boolean; readonly type: Type<object> }): ParameterDecorator =>
  documented(
    HeaderValue('if-match', (field) => {
      if (field !== undefined) return preconditionOf(field, type);
      if (required) throw new DomainError(PRECONDITION_REQUIRED);
      return () => undefined;
    }),
    SendsEntityTag(),
    ExtendRouteConfig({ evaluatesIfMatch: true }),
    ApiHeader({
      name: 'If-Match',
      required,
      description: 'ETags from responses to GET requests, or `*`. The operation fails unless one of them is current.',
      schema: { type: 'string' },
    }),
    ApiExtension(INTERNAL_EXTENSIONS.precondition, required ? [PRECONDITION_REQUIRED] : []),
  );
