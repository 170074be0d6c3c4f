import { Readable, Stream } from 'node:stream';
import { DomainError, JsonText } from '@animal-store/kernel';
import { StreamableFile } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { onClose } from './connection.js';

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

/** Maximum size of all files in memory that clients have not read. A single file may be larger. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** Sends the objects that handlers return as JSON with exact integers, and a JsonText unchanged. FastifyAdapter sends text and bytes. */
export class JsonAdapter extends FastifyAdapter {
  private unreadBytes = 0;

  constructor(
    server: FastifyInstance,
    private readonly log: Pick<Logger, 'error'>,
  ) {
    server.decorateReply('representation', undefined);
    super(server);
  }

  override reply(response: FastifyReply, body: unknown, statusCode?: number): FastifyReply {
    if ((typeof body !== 'object' && typeof body !== 'bigint') || body === null) return super.reply(response, body, statusCode);
    if (body instanceof ReadableStream) return this.reply(response, Readable.fromWeb(body), statusCode);
    // Fastify sends these as bytes.
    if (body instanceof StreamableFile || body instanceof Stream || ArrayBuffer.isView(body)) {
      const stream = body instanceof StreamableFile ? body.getStream() : body;
      if (ArrayBuffer.isView(stream)) this.hold(stream.byteLength, response);
      else if (stream instanceof Readable) this.hold(stream.readableLength, response);
      if (stream instanceof Stream)
        stream.on('error', (err) => {
          // Fastify then only closes the connection. Before the headers are sent, there is an error response.
          if (response.raw.headersSent)
            this.log.error({ requestId: response.request.id, err }, 'the response could not be sent completely');
        });
      return super.reply(response, body, statusCode);
    }
    if (statusCode !== undefined) response.code(statusCode);
    // A JsonText gets the entity tag as a property: V8 frees the entries of a WeakMap only when it collects the old generation.
    response.representation = body instanceof JsonText ? body : JsonText.of(body);
    // Without a serializer, Fastify would add a charset parameter (RFC 8259, section 11).
    return response.header('content-type', 'application/json').serializer(identity).send(response.representation.text);
  }

  /** Counts bytes until the client has read them. */
  private hold(bytes: number, { raw }: FastifyReply): void {
    if (bytes > 0 && this.unreadBytes > 0 && this.unreadBytes + bytes > MAX_UNREAD_BYTES) throw new DomainError(SERVICE_UNAVAILABLE);
    this.unreadBytes += bytes;
    onClose(raw, () => (this.unreadBytes -= bytes));
  }
}

const identity = (text: unknown): string => text as string;
