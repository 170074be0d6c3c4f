import { DomainError, JsonText, type Precondition, PRECONDITION_FAILED, PRECONDITION_REQUIRED } from '@animal-store/kernel';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiExtension, ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { entityTagOf } from './entity-tag.js';
import { INVALID_REQUEST } from './errors.js';
import { rejectHeader } from './header-violations.js';
import { ExtendRouteConfig } from './route-config.js';

/** A strong or weak entity tag (RFC 9110, section 8.8.3). */
const TAG = '(?:W/)?"[!#-~\\x80-\\xff]*"';
/** `*`, or a list of entity tags that may have empty elements (RFC 9110, section 5.6.1.2). */
const IF_MATCH = new RegExp(`^(?:\\*|[ \\t,]*${TAG}(?:[ \\t]*,[ \\t,]*${TAG})*[ \\t,]*)$`);

/** Extension with the errors of the precondition. The generation of the OpenAPI document reads and removes it. */
export const PRECONDITION_EXTENSION = 'x-precondition';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether 200 and 201 responses have an ETag. */
    conditional?: boolean;
    /** Whether the operation itself evaluates If-Match. */
    evaluatesIfMatch?: boolean;
  }
}

/**
 * Returns whether an If-Match header value matches the tag by strong comparison (RFC 9110, section 13.1.1). Weak tags never match.
 * @throws DomainError INVALID_REQUEST if the value is not `*` or a list of entity tags
 */
export function matchesStrongly(field: string, tag: string): boolean {
  return tagsOf(field)?.includes(tag) ?? true;
}

/** Returns the precondition of an If-Match header value. Throws like `matchesStrongly`. */
export function parseIfMatch(field: string): Precondition {
  const tags = tagsOf(field);
  return (current) => {
    if (tags && !tags.includes(entityTagOf(JsonText.of(current).text))) throw new DomainError(PRECONDITION_FAILED);
  };
}

/** Returns the entity tags of an If-Match header value, or undefined for `*`. */
function tagsOf(field: string): readonly string[] | undefined {
  if (!IF_MATCH.test(field)) {
    throw new DomainError(INVALID_REQUEST, 'If-Match must be * or a list of ETags in double quotes, separated by commas');
  }
  return field.match(new RegExp(TAG, 'g')) ?? undefined;
}

const InjectPrecondition = createParamDecorator((required: boolean, context: ExecutionContext): Precondition | Promise<never> => {
  const [request] = context.getArgs<[FastifyRequest]>();
  const field = request.headers['if-match'];
  if (field === undefined) {
    if (required) throw new DomainError(PRECONDITION_REQUIRED);
    return () => undefined;
  }
  try {
    return parseIfMatch(field);
  } catch (error) {
    return rejectHeader(request, error);
  }
});

/** Adds an ETag to each 200 and 201 of a change without `@IfMatch`, such as a creation. */
export const SendsEntityTag = (): MethodDecorator => ExtendRouteConfig({ conditional: true });

/** Injects the request's If-Match as a Precondition, documents it with its errors, and adds an ETag to each 200 and 201 of the operation. */
export const IfMatch =
  ({ required }: { required: boolean }): ParameterDecorator =>
  (target, key = '', index) => {
    InjectPrecondition(required)(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key) as PropertyDescriptor;
    applyDecorators(
      ExtendRouteConfig({ conditional: true, evaluatesIfMatch: true }),
      ApiHeader({
        name: 'If-Match',
        required,
        description: 'ETags from responses to GET requests, or `*`. The operation fails unless one of them is current.',
        schema: { type: 'string' },
      }),
      ApiExtension(PRECONDITION_EXTENSION, required ? [PRECONDITION_REQUIRED] : []),
    )(target, key, descriptor);
  };
