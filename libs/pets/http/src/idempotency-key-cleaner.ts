import { ForgetIdempotencyKeys } from '@animal-store/pets-application';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';

/** Processes share the work: rows that another one deletes are skipped. */
const EVERY_MS = 60_000;

/** Lets the service itself remove the keys whose time has come. */
@Injectable()
export class IdempotencyKeyCleaner implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(IdempotencyKeyCleaner.name);
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly forgetKeys: ForgetIdempotencyKeys) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.clean(), EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async clean(): Promise<void> {
    try {
      await this.forgetKeys.execute();
    } catch (error) {
      // The database may be away; the next round makes up for it.
      this.logger.warn(`Expired idempotency keys were not removed: ${String(error)}`);
    }
  }
}
