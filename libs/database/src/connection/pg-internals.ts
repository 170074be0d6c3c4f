import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import pg, { type PoolClient, type PoolConfig } from 'pg';
import { BufferReader } from 'pg-protocol/dist/buffer-reader.js';
import { CONNECTION_LOST } from './error-meaning.js';

/** What no documentation of `pg` and `pg-pool` promises. `database-client.spec.ts` fails when their versions change. */
export interface ClientInternals {
  /** Null until the login has succeeded. */
  readonly processID: number | null;
  /** Whether the client has received the end of its last statement. */
  readonly readyForQuery: boolean;
  /** Null between statements. */
  readonly _activeQuery: object | null;
  getStartupConf(): Record<string, string>;
}

/** The connection of a client, which `pg` passes to a Submittable; see its connection.js. */
export interface SubmitConnection {
  readonly stream: Writable;
  /** Texts of the prepared statements, and of those that were sent but are not yet prepared, by statement name. */
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  close(message: { type: 'S'; name: string }): void;
  bind(message: { statement: string; values: readonly (string | null)[] }): void;
  execute(): void;
  sync(): void;
}

const reader = BufferReader.prototype as unknown as { offset: number; buffer: Buffer; string(length: number): string };

/** `pg` reads an error or notice up to its end mark. Without the mark, it would read empty texts for ever, and block the process. */
reader.string = function (length) {
  const start = this.offset;
  this.offset += length;
  if (this.offset > this.buffer.length) throw new RangeError('The message of the server ends too early.');
  return this.buffer.toString('utf8', start, this.offset);
};

const PgConnection = pg.Connection as unknown as new (config: object) => pg.Connection & {
  attachListeners(stream: Pick<Socket, 'on'>): void;
};

/** A connection that fails if it receives a message that `pg` cannot handle. `pg` throws in a callback of the socket, which ends the process. */
export class GuardedConnection extends PgConnection {
  override attachListeners(stream: Socket): void {
    const on = (event: string, listener: (data: Buffer) => void) =>
      stream.on(event, (data: Buffer) => {
        try {
          listener(data);
        } catch (error) {
          stream.destroy(Object.assign(error as Error, { code: CONNECTION_LOST }));
        }
      });
    super.attachListeners({ on } as Pick<Socket, 'on'>);
  }
}

export type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => void;
type IdleListener = (error: Error) => void;

interface PoolInternals {
  /** Idle connections, each with the timer that closes it. */
  readonly _idle: { readonly client: PoolClient; readonly idleListener: IdleListener; readonly timeoutId: NodeJS.Timeout | undefined }[];
  _release(client: PoolClient, idleListener: IdleListener, error?: unknown): void;
  _acquireClient(client: PoolClient, item: { readonly callback: ConnectCallback }, idleListener: IdleListener, isNew: boolean): void;
}

export const PgPool = pg.Pool as unknown as new (config: PoolConfig) => pg.Pool & PoolInternals;
