import type { FastifyReply } from 'fastify';

/** The `headers` of a documented 201; `example` is the address of what was created. For an operation that is `@IdempotentByKey`. */
export const createdHeaders = (example: string) =>
  ({
    Location: { description: 'Address of what was created.', required: true, schema: { type: 'string' }, example },
    'Idempotent-Replayed': {
      description: '`true` when an earlier request with the same Idempotency-Key created it.',
      schema: { type: 'string' },
      example: 'true',
    },
  }) as const;

/** Answers what was created, now or by an earlier request with the same Idempotency-Key. */
export function answerCreated<Body>(reply: FastifyReply, address: string, body: Body, replayed: boolean): Body {
  reply.header('Location', address);
  if (replayed) reply.header('Idempotent-Replayed', 'true');
  return body;
}
