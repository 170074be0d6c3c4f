import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { connect, replicasOf, subscriptionsOf } from './data-source.js';
import { registerSubscriptions } from './events/event-log.js';
import { isMigrated } from './migrations.js';

const POLL_MS = 200;

interface OpenOptions {
  readonly awaitsMigrations?: boolean;
  readonly onWaiting?: () => void;
}

/** Tracks whether requests may use the database: only after it was first connected and migrated. */
export class DatabaseConnection {
  private hasOpened = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly onConnected: () => void = () => undefined,
  ) {}

  get isOpen(): boolean {
    return this.hasOpened;
  }

  /**
   * Tries once to connect. With `awaitsMigrations` or with subscriptions, also waits until another process has migrated the database, and
   * calls `onWaiting` after each read of its state.
   */
  async open({ awaitsMigrations = false, onWaiting = () => undefined }: OpenOptions = {}): Promise<void> {
    if (!this.dataSource.isInitialized) {
      await connect(this.dataSource);
      this.onConnected();
      replicasOf(this.dataSource)?.start();
    }
    const hasSubscriptions = subscriptionsOf(this.dataSource).length > 0;
    while ((awaitsMigrations || hasSubscriptions) && !(await isMigrated(this.dataSource))) {
      onWaiting();
      await sleep(POLL_MS);
    }
    if (hasSubscriptions) await registerSubscriptions(this.dataSource);
    this.hasOpened = true;
  }

  async close(): Promise<void> {
    this.hasOpened = false;
    await replicasOf(this.dataSource)?.close();
    if (this.dataSource.isInitialized) await this.dataSource.destroy();
  }
}
