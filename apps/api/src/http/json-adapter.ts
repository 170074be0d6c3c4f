import { Stream } from 'node:stream';
import { JsonText } from '@animal-store/kernel';
import { StreamableFile } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** JSON text as it is sent. Concurrent requests for the same page share it. */
export interface Representation {
  readonly text: string;
  /** Computed on first use, from the text and the Link header of the response, which `link` holds. */
  entityTag?: { readonly value: string; readonly link: string | undefined };
}

declare module 'fastify' {
  interface FastifyReply {
    /** The body of a response that may get an ETag. */
    representation: Representation | undefined;
  }
}

/** Sends the objects that handlers return as JSON with exact integers, and a JsonText unchanged. FastifyAdapter sends text and bytes. */
export class JsonAdapter extends FastifyAdapter {
  constructor(server: FastifyInstance) {
    server.decorateReply('representation', undefined);
    super(server);
  }

  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if (typeof body !== 'object' || body === null || isBytes(body)) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.code(statusCode);
    // A JsonText gets the entity tag as a property: V8 frees the entries of a WeakMap only when it collects the old generation.
    response.representation = body instanceof JsonText ? body : { text: toJson(body) };
    return sendJson(response, response.representation.text);
  }
}

/** Whether Fastify sends the body as bytes, and does not serialise it. */
function isBytes(body: object): boolean {
  return body instanceof StreamableFile || body instanceof Stream || body instanceof ReadableStream || ArrayBuffer.isView(body);
}

const identity = (text: unknown): string => text as string;

/** Sends JSON text without a charset parameter (RFC 8259, section 11), which Fastify adds if there is no serializer. */
function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json').serializer(identity).send(text);
}

/** Returns the value as JSON text, with exact bigints. */
export function toJson(value: unknown): string {
  return JSON.stringify(withNumbers(value) ?? null);
}

declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** Returns a copy with numbers instead of bigints. A replacer function would take five times as long. */
function withNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : JSON.rawJSON(String(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withNumbers);
  if ('toJSON' in value) return withNumbers((value as { toJSON(): unknown }).toJSON());
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    // An assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: withNumbers(member), enumerable: true });
    else copy[name] = withNumbers(member);
  }
  return copy;
}
