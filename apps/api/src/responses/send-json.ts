import type { FastifyReply } from 'fastify';

const identity = (text: unknown): string => text as string;

/** Sends JSON text without a charset parameter (RFC 8259, section 11), which Fastify adds if there is no serializer. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json').serializer(identity).send(text);
}
