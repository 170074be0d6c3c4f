import { DomainError, IDEMPOTENCY_KEY_LIFETIME_HOURS, type IdempotencyKey, type Outcome } from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toDto } from './responses.js';
import { documented, HeaderValue, INVALID_REQUEST } from './routes.js';

/** A bare key, or a quoted one with escaped quotes and backslashes (RFC 8941, section 3.3.3). */
export const IDEMPOTENCY_KEY = /^(?:[!#-~][!-~]{0,254}|"(?:[!#-[\]-~]|\\["\\]){1,255}")$/;

/**
 * Returns the key of a header value.
 * @throws DomainError INVALID_REQUEST if the value is not a bare or quoted key of 1 to 255 visible ASCII characters
 */
export function parseIdempotencyKey(field: string): string {
  if (!IDEMPOTENCY_KEY.test(field)) {
    throw new DomainError(
      INVALID_REQUEST,
      'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters, quoted or unquoted',
    );
  }
  return field.startsWith('"') ? field.slice(1, -1).replace(/\\(.)/g, '$1') : field;
}

const keyOf = (field: string | undefined, { principal }: FastifyRequest): IdempotencyKey | undefined => {
  if (field === undefined) return undefined;
  if (!principal) throw new Error('@RequestIdempotencyKey requires a route with authentication.');
  return { clientId: principal.clientId, key: parseIdempotencyKey(field) };
};

const KEY_HEADER = {
  name: 'Idempotency-Key',
  required: false,
  description: `A unique value, such as a UUID, that makes retries safe. A request with the same key and an equal body returns the response to the first request, with \`Idempotent-Replayed: true\`. A request with the same key and a different body is rejected with 422. Keys expire after ${String(IDEMPOTENCY_KEY_LIFETIME_HOURS)} hours. All API keys of a client share the same idempotency keys.`,
  // No example, because API reference pages would send it with every request.
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source } as const,
};

/**
 * Injects the request's Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) with its client, and documents it. Injects undefined if
 * there is none.
 */
export const RequestIdempotencyKey = (): ParameterDecorator => documented(HeaderValue('idempotency-key', keyOf), ApiHeader(KEY_HEADER));

const replayedHeader = (effect: string) => ({
  'Idempotent-Replayed': {
    description: `\`true\` if an earlier request with the same Idempotency-Key ${effect}.`,
    schema: { type: 'string' },
    example: 'true',
  },
});

/**
 * Returns the OpenAPI `headers` of the 201 of an operation with `@RequestIdempotencyKey`.
 * @param example the URL of a created resource; undefined if the resource has no URL, and the 201 no `Location`
 */
export const createdHeaders = (example?: string) =>
  ({
    ...(example !== undefined && {
      Location: { description: 'URL of the created resource.', required: true, schema: { type: 'string' }, example },
    }),
    ...replayedHeader('created the resource'),
  }) as const;

/** The OpenAPI `headers` of the 200 of a command with `@RequestIdempotencyKey`. */
export const replayedHeaders = replayedHeader('had the effect');

/**
 * Sets the headers of the response to a creation or a command, and returns the body.
 * @param url of the created resource, if it has one
 */
export function respondWithOutcome<Dto extends object>(reply: FastifyReply, outcome: Outcome<Dto>, type: Type<Dto>, url?: string): Dto {
  if (url !== undefined) reply.header('location', url);
  respondWithoutBody(reply, outcome);
  return toDto(type, outcome.result);
}

/** Sets the headers of the response to a command whose response has no body. */
export function respondWithoutBody(reply: FastifyReply, { replayed }: Outcome<unknown>): void {
  if (replayed) reply.header('idempotent-replayed', 'true');
}
