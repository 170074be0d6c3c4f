import {
  type ApiKeyRepository,
  type Client,
  CLIENT_NOT_FOUND,
  disableClient,
  enableClient,
  INVALID_KEY_REQUEST,
  isRateLimit,
  normalizeName,
  RATE_LIMIT_RULE,
} from '@animal-store/access-domain';
import { type Clock, DomainError } from '@animal-store/kernel';

/** @throws DomainError CLIENT_NOT_FOUND */
export class ManageClients {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns clients in the order of their creation. */
  list(): Promise<readonly Client[]> {
    return this.keys.listClients();
  }

  /** Disables the client. Every process rejects its keys within five seconds. */
  disable(name: string): Promise<Client> {
    return this.change(name, (client) => disableClient(client, this.clock.now()));
  }

  enable(name: string): Promise<Client> {
    return this.change(name, enableClient);
  }

  /**
   * @param rateLimit requests per minute; 0 for no limit, undefined for the service's limit
   * @throws DomainError INVALID_KEY_REQUEST
   */
  async setRateLimit(name: string, rateLimit: number | undefined): Promise<Client> {
    if (rateLimit !== undefined && !isRateLimit(rateLimit)) throw new DomainError(INVALID_KEY_REQUEST, `rate limit ${RATE_LIMIT_RULE}`);
    return this.change(name, (client) => ({ ...client, rateLimit }));
  }

  private async change(name: string, change: (client: Client) => Client): Promise<Client> {
    const changed = await this.keys.updateClient(normalizeName(name), change);
    if (!changed) throw new DomainError(CLIENT_NOT_FOUND, `No client has the name ${name}.`);
    return changed;
  }
}
