import type { Writable } from 'node:stream';
import type { Client, ClientBase } from 'pg';

/**
 * Everything that this library takes from the inside of `pg`, which no documentation promises. `pg-internals.spec.ts` fails when the version
 * of `pg` changes, so that this file is read beside the new code.
 */
export interface ClientInternals {
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
