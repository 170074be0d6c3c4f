import { JsonText } from '@animal-store/kernel';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendJson } from './send-json.js';
import { toJson } from './to-json.js';

/** A response body as it is sent. */
export interface Representation<Content = string | Buffer> {
  readonly content: Content;
  /** Computed on first use, from the content and the Link header of the response, which `link` holds. */
  entityTag?: { readonly value: string; readonly link: string | undefined };
}

declare module 'fastify' {
  interface FastifyReply {
    /** The body of a response that may get an ETag. */
    representation: Representation | undefined;
  }
}

/** A property of the JsonText instead of a WeakMap, whose entries V8 frees only when it collects the old generation. */
const REPRESENTATION = Symbol('representation');

interface SentJsonText extends JsonText {
  [REPRESENTATION]?: Representation<string> | undefined;
}

/** Sends the objects that handlers return as JSON with exact integers, and a JsonText unchanged. FastifyAdapter sends text and streams. */
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

/** Returns the one representation of a JsonText, which concurrent requests for the same page share. */
function representationOf(body: SentJsonText): Representation<string> {
  return (body[REPRESENTATION] ??= { content: body.text });
}
