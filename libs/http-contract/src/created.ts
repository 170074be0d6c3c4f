import type { FastifyReply } from 'fastify';

/** Returns the OpenAPI `headers` of the 201 of an `@IdempotentByKey` operation. `example` is an address of a created resource. */
export const createdHeaders = (example: string) =>
  ({
    Location: { description: 'Address of what was created.', required: true, schema: { type: 'string' }, example },
    'Idempotent-Replayed': {
      description: '`true` when an earlier request with the same Idempotency-Key created it.',
      schema: { type: 'string' },
      example: 'true',
    },
  }) as const;

/** Sets the headers of a 201 and returns the body. `replayed`: an earlier request with the same Idempotency-Key created the resource. */
export function answerCreated<Body>(reply: FastifyReply, address: string, body: Body, replayed: boolean): Body {
  reply.header('Location', address);
  if (replayed) reply.header('Idempotent-Replayed', 'true');
  return body;
}
