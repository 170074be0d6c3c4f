import { addAbortSignal } from 'node:stream';
import type { Socket } from 'node:net';
import { withDeadline } from '../observability/deadline.js';

/** Points and milliseconds left of a count; NaN of other replies. */
type Reply = readonly [points: number, msLeft: number];

/** OK, an error of which 200 characters are kept, or two integers. */
const REPLY = /(?:\+OK|-([^\r\n]{1,200})[^\r\n]*|\*2\r\n:(\d{1,15})\r\n:(\d{1,15}))\r\n/y;
const MAX_REPLY_LENGTH = 1_024;

/**
 * A connection to Redis that reads only the replies which counting needs. Everything else ends it, and so does an error, because the next
 * connection may reach another server or have another password.
 */
export class RedisConnection {
  private readonly ending = Promise.withResolvers<never>();
  private readonly pending: PromiseWithResolvers<Reply>[] = [];
  private unread = '';

  constructor(
    private readonly socket: Socket,
    signal: AbortSignal,
  ) {
    this.ended.catch(() => undefined);
    addAbortSignal(signal, socket);
    socket.setEncoding('latin1').setNoDelay();
    socket.on('data', (text: string) => this.read(text));
    socket.on('error', (error) => void this.end(error));
    socket.on('close', () => void this.end(new Error('the connection was closed')));
  }

  /** Rejects with the reason when the connection has ended. */
  get ended(): Promise<never> {
    return this.ending.promise;
  }

  /** Sends a command, also before the socket is connected. */
  async send(timeoutMs: number, ...words: readonly string[]): Promise<Reply> {
    const pending = Promise.withResolvers<Reply>();
    this.pending.push(pending);
    const lines = words.flatMap((word) => [`$${String(Buffer.byteLength(word))}`, word]);
    this.socket.write([`*${String(words.length)}`, ...lines, ''].join('\r\n'));
    const reply = await withDeadline(pending.promise, timeoutMs);
    return reply ?? this.end(new Error(`no response within ${String(timeoutMs)} ms`));
  }

  end(reason: Error): Promise<never> {
    this.socket.destroy();
    this.ending.reject(reason);
    for (const { reject } of this.pending.splice(0)) reject(reason);
    return this.ended;
  }

  private read(text: string): void {
    this.unread += text;
    let length = 0;
    REPLY.lastIndex = 0;
    for (let match = REPLY.exec(this.unread); match; match = REPLY.exec(this.unread)) {
      length = REPLY.lastIndex;
      const [, error, points, msLeft] = match;
      const pending = this.pending.shift();
      if (!pending || error !== undefined) return void this.end(new Error(error ?? 'unexpected response'));
      pending.resolve([Number(points), Number(msLeft)]);
    }
    this.unread = this.unread.slice(length);
    if (this.unread.length > MAX_REPLY_LENGTH || /^[^+*-]/.test(this.unread)) void this.end(new Error('unexpected response'));
  }
}
