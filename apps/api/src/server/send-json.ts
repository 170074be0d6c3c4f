import type { FastifyReply } from 'fastify';

const asItIs = (text: unknown): string => text as string;

/** JSON is UTF-8 and has no charset parameter (RFC 8259, section 11); Fastify adds one to every text that has no serializer. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('Content-Type', 'application/json').serializer(asItIs).send(text);
}
