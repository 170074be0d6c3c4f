import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { sendJson } from './send-json.js';
import { toJson } from './to-json.js';

/** A body as it is sent. */
export interface Representation {
  readonly text: string;
  /** Made when it is first asked for, over the text and this Link. */
  entityTag?: { readonly value: string; readonly link: string | undefined };
}

declare module 'fastify' {
  interface FastifyReply {
    /** Of an answer of JSON. */
    representation: Representation | undefined;
  }
}

/** Writes what a handler returns as JSON with exact integers; text and streams go the way of the adapter. */
export class JsonAdapter extends FastifyAdapter {
  /** Concurrent requests for one page are answered with one array. */
  private readonly ofArrays = new WeakMap<readonly unknown[], Representation>();

  constructor(server: FastifyInstance) {
    server.decorateReply('representation', undefined);
    super(server);
  }

  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if (typeof body !== 'object' || body === null || 'pipe' in body) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.code(statusCode);
    response.representation = Array.isArray(body) ? this.represent(body) : { text: toJson(body) };
    return sendJson(response, response.representation.text);
  }

  private represent(body: readonly unknown[]): Representation {
    let representation = this.ofArrays.get(body);
    if (!representation) {
      representation = { text: toJson(body) };
      this.ofArrays.set(body, representation);
    }
    return representation;
  }
}
