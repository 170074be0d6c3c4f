import type { Writable } from 'node:stream';
import pg, { type Client, type ClientBase, type PoolClient, type PoolConfig } from 'pg';

/**
 * Everything that this library takes from the inside of `pg` and `pg-pool`, which no documentation promises. `pg-internals.spec.ts` fails when
 * a version changes, so that this file is read beside the new code.
 */
export interface ClientInternals {
  /** Null until the login has succeeded. */
  readonly processID: number | null;
  /** Returns the parameters of the start-up message. */
  getStartupConf(): Record<string, string>;
}

/** The connection of a client, which `pg` passes to a Submittable; see its connection.js. */
export interface SubmitConnection {
  readonly stream: Writable;
  /** Texts of the prepared statements, and of those that were sent but are not yet prepared, by statement name. */
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly (string | null)[] }): void;
  execute(): void;
  sync(): void;
}

/** Whether the client has received the end of its last statement. */
export function isReadyForQuery(client: ClientBase): boolean {
  return (client as unknown as { readonly readyForQuery: boolean }).readyForQuery;
}

/** Replaces fields that the constructors of `pg` set, because `pg` has no option that chooses the server when it connects. */
export function setServer(
  client: Client,
  { host, port, ssl }: { readonly host: string; readonly port: number; readonly ssl: unknown },
): void {
  client.host = host;
  client.port = port;
  Object.assign(client, { ssl });
  Object.assign(client.connection, { ssl });
}

interface PoolInternals {
  /** Also those that are still connecting. */
  readonly _clients: readonly (PoolClient & ClientInternals)[];
  readonly _idle: IdleItem[];
  newClient(item: PendingItem): void;
  _release(client: PoolClient, idleListener: IdleItem['idleListener'], error?: unknown): void;
  _acquireClient(client: PoolClient, item: PendingItem, idleListener: IdleItem['idleListener'], isNew: boolean): void;
}

export type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => void;

/** A request for a connection. */
export interface PendingItem {
  readonly callback: ConnectCallback;
  readonly timedOut?: boolean;
}

/** An idle connection. */
export interface IdleItem {
  readonly client: PoolClient;
  readonly idleListener: (error: Error) => void;
  /** The timer that closes the connection. */
  readonly timeoutId: NodeJS.Timeout | undefined;
}

export const PgPool = pg.Pool as unknown as new (config: PoolConfig) => pg.Pool & PoolInternals;
