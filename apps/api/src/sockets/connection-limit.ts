import type { Server } from 'node:http';
import { RETRY_AFTER_SECONDS, SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { type Connection, connectionOf } from './connection.js';
import { corsHeadersOfUnknown } from '../responses/cors.js';
import { type SocketErrorOptions, writeErrorAndClose } from './socket-errors.js';

/** Share of `max`. At most this many idle connections are closed at a time, and at most this many connections above `max` get a 503. */
const SHARE = 1 / 100;
/** Minimum time between a search that found no idle connection and the next search. */
const SEARCH_AGAIN_AFTER_MS = 100;

/** Keeps at most `max` connections. Beyond that, idle ones are closed; if there are none, the new one gets 503 and is closed. */
export function limitConnections(server: Server, max: number, { corsOrigins, publicUrl, shed }: SocketErrorOptions): void {
  /** Oldest first. */
  const connections = new Set<Connection>();
  const headers = { 'Retry-After': RETRY_AFTER_SECONDS, ...corsHeadersOfUnknown(corsOrigins) };
  const batch = Math.ceil(max * SHARE);
  let searchAfter = 0;

  const closeIdle = (newest: Connection) => {
    const now = performance.now();
    if (now < searchAfter) return false;
    let unused: Connection[] = [];
    const idle: Connection[] = [];
    for (const connection of connections) {
      if (connection.pending > 0 || connection === newest) continue;
      (connection.isUsed ? idle : unused).push(connection);
      if (unused.length === batch) break;
    }
    // Connections that never sent a request are closed first.
    if (unused.length === 0) unused = idle.slice(0, batch);
    for (const connection of unused) {
      connections.delete(connection);
      connection.socket.destroy();
    }
    if (unused.length === 0) searchAfter = now + SEARCH_AGAIN_AFTER_MS;
    return unused.length > 0;
  };

  server.on('connection', (socket) => {
    const connection = connectionOf(socket);
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
    if (connections.size <= max || closeIdle(connection)) return;
    connection.isEnded = true;
    shed.count('connections');
    if (connections.size > max + batch) socket.destroy();
    else writeErrorAndClose(socket, SERVICE_UNAVAILABLE, publicUrl, headers);
  });
}
