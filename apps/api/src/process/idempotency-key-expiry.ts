import { deleteExpiredIdempotencyKeys } from '@animal-store/database';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';

const INTERVAL_MS = 60_000;

/** Removes the expired idempotency keys of all contexts once a minute. Only one process at a time does so. */
@Injectable()
export class IdempotencyKeyExpiry implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(IdempotencyKeyExpiry.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly dataSource: DataSource) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.removeExpired(), INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async removeExpired(): Promise<void> {
    try {
      await deleteExpiredIdempotencyKeys(this.dataSource);
    } catch (error) {
      // The database may be unavailable; the next run removes the keys.
      this.logger.warn(`Expired idempotency keys were not removed: ${String(error)}`);
    }
  }
}
