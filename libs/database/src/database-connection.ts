import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.js';
import { registerSubscriptions } from './events/events.js';
import { pendingMigrations } from './migrations/migrations.js';

const POLL_MS = 200;

/** Tracks whether requests may use the database: only after it was first connected and migrated. */
export class DatabaseConnection {
  private opened = false;

  constructor(private readonly database: Database) {}

  get hasOpened(): boolean {
    return this.opened;
  }

  /**
   * Tries once to connect, then waits until the database is migrated, possibly by another process. Calls `onWaiting` after each read of its
   * state.
   */
  async open({ onWaiting = () => undefined }: { readonly onWaiting?: () => void } = {}): Promise<void> {
    const { database } = this;
    if (!database.isInitialized) {
      await database.connect();
      database.replicas?.start();
    }
    while ((await pendingMigrations(database)).length > 0) {
      onWaiting();
      await sleep(POLL_MS);
    }
    if ((database.settings.subscriptions ?? []).length > 0) await registerSubscriptions(database);
    this.opened = true;
  }

  async close(): Promise<void> {
    this.opened = false;
    await this.database.replicas?.close();
    if (this.database.isInitialized) await this.database.destroy();
  }
}
