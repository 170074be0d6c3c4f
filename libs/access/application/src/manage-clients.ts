import {
  type ApiKeyRepository,
  type Client,
  CLIENT_NOT_FOUND,
  type ClientChange,
  INVALID_KEY_REQUEST,
  MAX_RATE_LIMIT,
  normalizeName,
} from '@animal-store/access-domain';
import { type Clock, DomainError } from '@animal-store/kernel';

/** @throws DomainError CLIENT_NOT_FOUND */
export class ManageClients {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  list(): Promise<readonly Client[]> {
    return this.keys.listClients();
  }

  /** Disables the client. Every process rejects its keys within five seconds. */
  disable(name: string): Promise<Client> {
    return this.change(name, ({ disabledAt }) => (disabledAt ? undefined : { disabledAt: this.clock.now() }));
  }

  enable(name: string): Promise<Client> {
    return this.change(name, () => ({ disabledAt: null }));
  }

  /**
   * @param rateLimit requests per minute; 0 for no limit, null for the service's limit
   * @throws DomainError INVALID_KEY_REQUEST
   */
  async setRateLimit(name: string, rateLimit: number | null): Promise<Client> {
    if (rateLimit !== null && !(Number.isInteger(rateLimit) && rateLimit >= 0 && rateLimit <= MAX_RATE_LIMIT))
      throw new DomainError(INVALID_KEY_REQUEST, `rate limit must be an integer from 0 to ${String(MAX_RATE_LIMIT)}`);
    return this.change(name, () => ({ rateLimit }));
  }

  private async change(name: string, change: (client: Client) => ClientChange | undefined): Promise<Client> {
    const changed = await this.keys.changeClient(normalizeName(name), change);
    if (!changed) throw new DomainError(CLIENT_NOT_FOUND, `No client has the name ${name}.`);
    return changed;
  }
}
