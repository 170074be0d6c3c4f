import type { FastifyReply } from 'fastify';

/** Returns the OpenAPI `headers` of the 201 of an `@ApiIdempotencyKey` operation. `example` is the URL of a created resource. */
export const createdHeaders = (example: string) =>
  ({
    Location: { description: 'URL of the created resource.', required: true, schema: { type: 'string' }, example },
    'Idempotent-Replayed': {
      description: '`true` if an earlier request with the same Idempotency-Key created the resource.',
      schema: { type: 'string' },
      example: 'true',
    },
  }) as const;

/** Sets the headers of a 201 and returns the body. `replayed`: an earlier request with the same Idempotency-Key created the resource. */
export function respondWithCreated<Body>(reply: FastifyReply, url: string, body: Body, replayed: boolean): Body {
  reply.header('location', url);
  if (replayed) reply.header('idempotent-replayed', 'true');
  return body;
}
