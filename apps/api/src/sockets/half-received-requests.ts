import { DomainError } from '@animal-store/kernel';
import type { FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { addressGroup } from '../rate-limit/address-group.js';
import type { BodyObserver, Refusal } from './request-body.js';
import { connectionOf, type Reception } from './connection.js';

/** Maximum share of `max` per address. */
const SHARE_OF_ADDRESS = 1 / 4;

/**
 * Limits the number of requests whose bodies are being received, in total and per address. Above the limit, the oldest one is refused.
 * Most bodies are complete at the end of the turn of the event loop in which they begin. They are not counted.
 * @param admit Counts a request that has been received, or returns why it is refused.
 */
export class HalfReceivedRequests implements BodyObserver<Reception> {
  private newReceptions: Reception[] = [];
  private readonly all = new Set<Reception>();
  private readonly byAddress = new Map<string, Set<Reception>>();

  constructor(
    private readonly max: number,
    private readonly admit: (request: FastifyRequest) => Refusal | undefined,
  ) {}

  begin(request: FastifyRequest, abandon: (refusal: Refusal) => void): Reception {
    const reception = { request, abandon, isOver: false };
    connectionOf(request.raw.socket).receiving = reception;
    if (this.newReceptions.push(reception) === 1) setImmediate(() => this.countNewReceptions());
    return reception;
  }

  end(reception: Reception): Refusal | undefined {
    const { request } = reception;
    reception.isOver = true;
    const connection = connectionOf(request.raw.socket);
    // The next request of the connection may have begun.
    if (connection.receiving === reception) connection.receiving = undefined;
    if (this.all.delete(reception)) this.removeFromAddress(addressGroup(request.ip), reception);
    return this.admit(request);
  }

  private countNewReceptions(): void {
    const { newReceptions } = this;
    this.newReceptions = [];
    for (const reception of newReceptions) if (!reception.isOver) this.count(reception);
  }

  private count(reception: Reception): void {
    const address = addressGroup(reception.request.ip);
    const ofAddress = this.byAddress.get(address) ?? new Set();
    this.byAddress.set(address, ofAddress.add(reception));
    this.all.add(reception);
    if (ofAddress.size > Math.ceil(this.max * SHARE_OF_ADDRESS)) refuseOldest(ofAddress);
    else if (this.all.size > this.max) refuseOldest(this.all);
  }

  private removeFromAddress(address: string, reception: Reception): void {
    const ofAddress = this.byAddress.get(address);
    ofAddress?.delete(reception);
    if (ofAddress?.size === 0) this.byAddress.delete(address);
  }
}

function refuseOldest([oldest]: ReadonlySet<Reception>): void {
  oldest?.abandon(new DomainError(SERVICE_UNAVAILABLE, 'Too many requests are being received; try again shortly.'));
}
