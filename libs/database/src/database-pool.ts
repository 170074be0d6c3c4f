import pg, { type PoolClient, type PoolConfig } from 'pg';
import { READ_ONLY } from './database-client.js';

/** A pool that leaves a server that became read-only: it closes idle connections immediately and the others on release. */
export class DatabasePool extends pg.Pool {
  private readonly idle = new Set<PoolClient>();
  private readonly busy = new Set<PoolClient>();
  private readonly closeOnRelease = new WeakSet<PoolClient>();

  constructor(config: PoolConfig) {
    super(config);
    this.on('connect', (client) => {
      client.connection.on('errorMessage', ({ code }: { code?: string }) => {
        if (code === READ_ONLY) this.leaveServer();
      });
    });
    this.on('acquire', (client) => {
      this.idle.delete(client);
      this.busy.add(client);
    });
    this.on('release', (_error, client) => {
      this.busy.delete(client);
      // The pool removes clients that are ending.
      if (this.closeOnRelease.has(client)) void client.end().catch(() => undefined);
      else this.idle.add(client);
    });
    this.on('remove', (client) => this.idle.delete(client));
  }

  private leaveServer(): void {
    for (const client of this.busy) this.closeOnRelease.add(client);
    // The pool handles this as if the server had closed the connections.
    for (const client of this.idle) client.connection.stream.destroy();
    this.idle.clear();
  }
}
