import { Database, DatabaseConnection, type MigrationState, migrationState } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import { Injectable } from '@nestjs/common';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { Draining } from '../http/connection.js';
import { withDeadline } from '../observability/deadline.js';
import { Metrics } from '../observability/metrics.js';

/** How long a probe waits for the database. Shorter than `readinessProbe.timeoutSeconds` of the Helm chart. */
const PROBE_TIMEOUT_MS = 2_000;

/** The message of the response by reason. */
const NOT_READY = {
  draining: 'The process is shutting down.',
  connecting: 'The database is not connected or not migrated yet.',
  database: 'The database does not respond.',
  migrations: 'Migrations are pending.',
} as const;

type NotReadyReason = keyof typeof NOT_READY;
const NOT_READY_REASONS = Object.keys(NOT_READY);

class NotReadyError extends DomainError {
  constructor(
    readonly reason: NotReadyReason,
    options?: ErrorOptions,
  ) {
    super(SERVICE_UNAVAILABLE, NOT_READY[reason], options);
  }
}

/** Whether the process should receive requests. */
@Injectable()
export class Readiness {
  private query: Promise<MigrationState> | undefined;
  /** As last read; undefined before the first read. */
  private migrations: MigrationState | undefined;

  constructor(
    private readonly database: Database,
    private readonly connection: DatabaseConnection,
    private readonly draining: Draining,
    metrics: Metrics,
  ) {
    metrics.observeReadiness(NOT_READY_REASONS, () => this.reason());
    metrics.observeMigrations(() => this.readMigrations().catch(() => this.migrations));
  }

  /** @throws NotReadyError */
  async check(): Promise<void> {
    if (this.draining.isActive) throw new NotReadyError('draining');
    if (!this.connection.hasOpened) throw new NotReadyError('connecting');
    const { pending } = await this.readMigrations();
    if (pending > 0) throw new NotReadyError('migrations');
  }

  /** Returns why the process is not ready; undefined if it is. */
  private async reason(): Promise<NotReadyReason | undefined> {
    try {
      await this.check();
      return undefined;
    } catch (error) {
      return (error as NotReadyError).reason;
    }
  }

  private async readMigrations(): Promise<MigrationState> {
    // After the gauges of the pool are read, since the query uses a connection.
    await Promise.resolve();
    // Probes share a query until it ends, because anyone can send many of them without an API key.
    this.query ??= migrationState(this.database).finally(() => {
      this.query = undefined;
    });
    const state = await withDeadline(this.query, PROBE_TIMEOUT_MS).catch((cause: unknown) => {
      throw new NotReadyError('database', { cause });
    });
    if (!state) throw new NotReadyError('database');
    return (this.migrations = state);
  }
}
