import { JsonText } from '@animal-store/kernel';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendJson } from './send-json.js';
import { toJson } from './to-json.js';

/** A body as it is sent. */
export interface Representation<Content = string | Buffer> {
  readonly content: Content;
  /** Made when it is first asked for, over the content and this Link. */
  entityTag?: { readonly value: string; readonly link: string | undefined };
}

declare module 'fastify' {
  interface FastifyReply {
    /** The body of a response that may get an ETag. */
    representation: Representation | undefined;
  }
}

/**
 * Lies on the JsonText itself: V8 lets go of what a WeakMap holds only when it collects the old generation, and every page of
 * text would grow that old.
 */
const REPRESENTATION = Symbol('representation');

interface SentJsonText extends JsonText {
  [REPRESENTATION]?: Representation<string> | undefined;
}

/** Writes what a handler returns as JSON with exact integers, a JsonText as it is; text and streams go the way of the adapter. */
export class JsonAdapter extends FastifyAdapter {
  constructor(server: FastifyInstance) {
    server.decorateReply('representation', undefined);
    super(server);
  }

  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if (typeof body !== 'object' || body === null || 'pipe' in body) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.code(statusCode);
    const representation = body instanceof JsonText ? representationOf(body) : { content: toJson(body) };
    response.representation = representation;
    return sendJson(response, representation.content);
  }
}

/** One for all: concurrent requests for one page are answered with one text. */
function representationOf(body: SentJsonText): Representation<string> {
  return (body[REPRESENTATION] ??= { content: body.text });
}
