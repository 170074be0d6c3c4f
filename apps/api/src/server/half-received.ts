import { DomainError } from '@animal-store/kernel';
import type { FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { addressGroup } from '../rate-limit/address-group.js';
import type { BodyObserver, Refusal } from '../validation/request-body.js';
import { connectionOf } from './connection.js';

/** Share of all half-received requests that one address may have. */
const SHARE_OF_ADDRESS = 1 / 4;

type Abandon = (refusal: Refusal) => void;

/**
 * Bounds the requests whose bodies are being received, also per address. Beyond the bound, the oldest one is refused.
 * @param admit Counts a request that has been received, or returns why it is refused.
 */
export class HalfReceived implements BodyObserver {
  private readonly all = new Map<FastifyRequest, Abandon>();
  private readonly byAddress = new Map<string, Map<FastifyRequest, Abandon>>();

  constructor(
    private readonly max: number,
    private readonly admit: (request: FastifyRequest) => Refusal | undefined,
  ) {}

  begin(request: FastifyRequest, abandon: Abandon): void {
    const address = addressGroup(request.ip);
    const ofAddress = this.byAddress.get(address) ?? new Map<FastifyRequest, Abandon>();
    this.byAddress.set(address, ofAddress.set(request, abandon));
    this.all.set(request, abandon);
    connectionOf(request.raw.socket).receiving = { message: request.raw, abandon };
    if (ofAddress.size > Math.ceil(this.max * SHARE_OF_ADDRESS)) refuseOldest(ofAddress);
    else if (this.all.size > this.max) refuseOldest(this.all);
  }

  end(request: FastifyRequest): Refusal | undefined {
    const connection = connectionOf(request.raw.socket);
    // The next request of the connection may have begun already.
    if (connection.receiving?.message === request.raw) connection.receiving = undefined;
    this.all.delete(request);
    const address = addressGroup(request.ip);
    const ofAddress = this.byAddress.get(address);
    ofAddress?.delete(request);
    if (ofAddress?.size === 0) this.byAddress.delete(address);
    return this.admit(request);
  }
}

function refuseOldest(requests: ReadonlyMap<FastifyRequest, Abandon>): void {
  for (const abandon of requests.values()) {
    abandon(new DomainError(SERVICE_UNAVAILABLE, 'Too many requests are being received; try again shortly.'));
    return;
  }
}
