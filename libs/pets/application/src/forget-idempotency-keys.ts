import type { Clock } from '@animal-store/kernel';
import type { PetRepository } from '@animal-store/pets-domain';

/** Published in the OpenAPI document. */
export const IDEMPOTENCY_KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Small, so that no deletion holds locks or vacuum back for long. */
const BATCH = 500;

export class ForgetIdempotencyKeys {
  constructor(
    private readonly pets: PetRepository,
    private readonly clock: Clock,
  ) {}

  /** Forgets every key that has lived its time, batch by batch, and says how many there were. */
  async execute(): Promise<number> {
    const before = new Date(this.clock.now().getTime() - IDEMPOTENCY_KEY_LIFETIME_MS);
    let total = 0;
    for (;;) {
      const forgotten = await this.pets.forgetKeys(before, BATCH);
      total += forgotten;
      if (forgotten < BATCH) return total;
    }
  }
}
