import { Database, pendingMigrations, withDeadline } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import { Injectable } from '@nestjs/common';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { Draining } from '../http/connection.js';
import { Metrics } from '../observability/metrics.js';
import { PROBE_TIMEOUT_MS } from '../config/config.js';

const notReady = (reason: string, options?: ErrorOptions) => new DomainError(SERVICE_UNAVAILABLE, reason, options);

/** Whether the process should receive requests. */
@Injectable()
export class Readiness {
  private query: Promise<string[]> | undefined;
  /** As last read. */
  private pending = Number.NaN;

  constructor(
    private readonly database: Database,
    private readonly draining: Draining,
    metrics: Metrics,
  ) {
    const isReady = () =>
      this.check()
        .then(() => 1)
        .catch(() => 0);
    const pending = () => this.readPending().catch(() => this.pending);
    metrics.observe('service_ready', '1 while the process is ready for requests, otherwise 0.', isReady);
    metrics.observe('database_migrations_pending', 'Migrations of this release that are not applied.', pending);
  }

  /** @throws DomainError with the reason */
  async check(): Promise<void> {
    if (this.draining.isActive) throw notReady('The process is shutting down.');
    if (!this.database.hasOpened) throw notReady('The database is not connected or not migrated yet.');
    if ((await this.readPending()) > 0) throw notReady('Migrations are pending.');
  }

  private async readPending(): Promise<number> {
    // After the gauges of the pool are read, since the query uses a connection.
    await Promise.resolve();
    // Probes share a query until it ends, because anyone can send many of them without an API key.
    this.query ??= pendingMigrations(this.database).finally(() => {
      this.query = undefined;
    });
    const pending = await withDeadline(this.query, PROBE_TIMEOUT_MS).catch((cause: unknown) => {
      throw notReady('The database does not respond.', { cause });
    });
    if (!pending) throw notReady('The database does not respond.');
    return (this.pending = pending.length);
  }
}
