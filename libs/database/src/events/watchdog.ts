import type { PoolClient } from 'pg';
import type { StoredEvent } from './stored-event.js';

/** The error of a handler that is too slow. */
export class OverdueError extends Error {
  constructor(
    readonly event: StoredEvent,
    timeoutMs: number,
  ) {
    super(`The handler did not end within ${String(timeoutMs)} ms.`);
  }
}

/** Limits the time of handlers. Closes the connection of one that is too slow, so that nothing it does later can take effect. */
export class Watchdog {
  private readonly overdue = Promise.withResolvers<never>();
  private readonly timer: NodeJS.Timeout;
  private event: StoredEvent | undefined;
  private isOverdue = false;

  constructor(client: PoolClient, timeoutMs: number) {
    this.timer = setTimeout(() => {
      if (!this.event) return;
      this.isOverdue = true;
      this.overdue.reject(new OverdueError(this.event, timeoutMs));
      client.connection.stream.destroy();
    }, timeoutMs);
  }

  /** Handles the events one after the other. Rejects with an OverdueError when one is too slow, and then handles no other. */
  async run(events: readonly StoredEvent[], handle: (event: StoredEvent) => Promise<void>): Promise<void> {
    const handleAll = async () => {
      for (const event of events) {
        if (this.isOverdue) return;
        this.event = event;
        this.timer.refresh();
        await handle(event);
      }
    };
    try {
      await Promise.race([handleAll(), this.overdue.promise]);
    } finally {
      clearTimeout(this.timer);
    }
  }
}
