import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Cluster } from '../cluster.js';
import { NODES } from '../layout.js';

const POLL_MS = 100;
const TIMEOUT_MS = 1_000;
/** The message is written to the WAL, so the commit waits for the synchronous standby. */
const WRITE = `SELECT pg_is_in_recovery() AS standby, CASE WHEN NOT pg_is_in_recovery() THEN pg_logical_emit_message(true, 'verify', '') END`;

/** Checks whether each server, and the server behind PgBouncer, accepts writes. */
export class WriteMonitor {
  /** When a server committed a write, in milliseconds of `performance.now()`. */
  readonly commits: number[] = [];
  /** How often PgBouncer connected to a read-only server. */
  standbyConnections = 0;
  private readonly running: Promise<void>[] = [];
  private isStopping = false;

  constructor(private readonly cluster: Cluster) {}

  start(): void {
    const { nodes } = this.cluster.layout;
    for (const name of NODES) {
      const { host, postgres: port } = nodes[name];
      const url = this.cluster.urlOf({ host, port });
      this.running.push(
        this.watch(url, (isStandby) => {
          if (!isStandby) this.commits.push(performance.now());
        }),
      );
    }
    this.running.push(
      this.watch(this.cluster.pooledUrl, (isStandby) => {
        if (isStandby) this.standbyConnections++;
      }),
    );
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all(this.running);
  }

  private async watch(connectionString: string, report: (isStandby: boolean) => void): Promise<void> {
    while (!this.hasStopped()) {
      const client = new Client({ connectionString, connectionTimeoutMillis: TIMEOUT_MS, query_timeout: TIMEOUT_MS });
      client.on('error', () => undefined);
      try {
        await client.connect();
        while (!this.hasStopped()) {
          const { rows } = await client.query<{ standby: boolean }>(WRITE);
          report(rows[0]?.standby === true);
          await sleep(POLL_MS);
        }
      } catch {
        await sleep(POLL_MS);
      } finally {
        // A frozen server would not respond to the end of a session.
        client.connection.stream.destroy();
      }
    }
  }

  private hasStopped(): boolean {
    return this.isStopping;
  }
}
