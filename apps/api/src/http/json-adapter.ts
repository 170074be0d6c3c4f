import { Stream } from 'node:stream';
import { JsonText } from '@animal-store/kernel';
import { StreamableFile } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';

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

/** Sends the objects that handlers return as JSON with exact integers, and a JsonText unchanged. FastifyAdapter sends text and bytes. */
export class JsonAdapter extends FastifyAdapter {
  constructor(server: FastifyInstance) {
    server.decorateReply('representation', undefined);
    super(server);
  }

  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if (typeof body !== 'object' || body === null || isBytes(body)) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.code(statusCode);
    const representation = body instanceof JsonText ? representationOf(body) : { content: toJson(body) };
    response.representation = representation;
    return sendJson(response, representation.content);
  }
}

/** Whether Fastify sends the body as bytes, and does not serialise it. */
function isBytes(body: object): boolean {
  return body instanceof StreamableFile || body instanceof Stream || body instanceof ReadableStream || ArrayBuffer.isView(body);
}

/** Returns the one representation of a JsonText, which concurrent requests for the same page share. */
function representationOf(body: SentJsonText): Representation<string> {
  return (body[REPRESENTATION] ??= { content: body.text });
}

const identity = (text: unknown): string => text as string;

/** Sends JSON text without a charset parameter (RFC 8259, section 11), which Fastify adds if there is no serializer. */
function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json').serializer(identity).send(text);
}

/**
 * Returns the value as JSON text, with exact bigints. Everything else is written as by JSON.stringify.
 * ADR 9 has the measurement that justifies it.
 */
export function toJson(value: unknown): string {
  return write(value) ?? 'null';
}

/** Returns undefined for values that JSON omits. */
function write(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'number':
      return Number.isFinite(value) ? String(value) : 'null';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return writeArray(value);
      return 'toJSON' in value ? write((value as { toJSON(): unknown }).toJSON()) : writeObject(value as Record<string, unknown>);
    default:
      return undefined;
  }
}

function writeArray(values: readonly unknown[]): string {
  let text = '[';
  for (let i = 0; i < values.length; i++) text += (i > 0 ? ',' : '') + (write(values[i]) ?? 'null');
  return text + ']';
}

function writeObject(object: Readonly<Record<string, unknown>>): string {
  let text = '{';
  for (const name of Object.keys(object)) {
    const member = write(object[name]);
    if (member !== undefined) text += (text.length > 1 ? ',' : '') + nameOf(name) + member;
  }
  return text + '}';
}

/** Member names as JSON text. Responses use few names. */
const names = new Map<string, string>();
const MAX_NAMES = 1000;

function nameOf(name: string): string {
  let text = names.get(name);
  if (text === undefined) {
    text = `${JSON.stringify(name)}:`;
    if (names.size < MAX_NAMES) names.set(name, text);
  }
  return text;
}
