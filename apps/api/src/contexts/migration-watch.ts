import { Database, type MigrationState, migrationState } from '@animal-store/database';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics } from '../observability/metrics.js';

const INTERVAL_MS = 60_000;
/** Interval until all migrations are applied. */
const INTERVAL_UNTIL_MIGRATED_MS = 1_000;

/** Polls the state of the migrations for the metrics: every second until all are applied, then once a minute. */
@Injectable()
export class MigrationWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private state: MigrationState | undefined;
  private isStopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    metrics: Metrics,
  ) {
    metrics.observeMigrations(() => this.state);
  }

  onApplicationBootstrap(): void {
    void this.read();
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** Reads the state. While the database is unavailable, the last state is kept. */
  private async read(): Promise<void> {
    this.state = await migrationState(this.database).catch(() => this.state);
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.read(), this.state?.pending === 0 ? INTERVAL_MS : INTERVAL_UNTIL_MIGRATED_MS).unref();
  }
}
