import { DomainError } from '@animal-store/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../errors/http-errors.js';
import { addressGroup } from '../rate-limit/address-group.js';
import { hasBody } from '../validation/request-body.js';
import { connectionOf } from './connection.js';

/** Share of all half-received requests that one address may have. */
const SHARE_OF_ADDRESS = 1 / 4;

declare module 'fastify' {
  interface FastifyRequest {
    /** Those of the same address, while the body of this one is being received. */
    halfReceived: Set<FastifyRequest> | undefined;
  }
}

/** Bounds the requests whose bodies are being received, also per address. Beyond the bound, the oldest one is refused. */
export function boundHalfReceived(fastify: FastifyInstance, max: number): void {
  const all = new Set<FastifyRequest>();
  const byAddress = new Map<string, Set<FastifyRequest>>();
  const maxOfAddress = Math.ceil(max * SHARE_OF_ADDRESS);
  fastify.decorateRequest('halfReceived', undefined);

  const forget = (request: FastifyRequest, ofAddress: Set<FastifyRequest>) => {
    request.halfReceived = undefined;
    const connection = connectionOf(request.raw.socket);
    // The next request of the connection may have begun already.
    if (connection.receiving === request) connection.receiving = undefined;
    all.delete(request);
    ofAddress.delete(request);
    if (ofAddress.size === 0) byAddress.delete(addressGroup(request.ip));
  };
  const refuseOldest = ([oldest]: Set<FastifyRequest>) => {
    oldest?.abandonBody?.(new DomainError(SERVICE_UNAVAILABLE, 'Too many requests are being received; try again shortly.'));
  };

  // After every hook that may refuse the request without its body.
  fastify.addHook('preParsing', (request, _reply, _payload, done) => {
    if (hasBody(request.raw)) {
      const address = addressGroup(request.ip);
      const ofAddress = byAddress.get(address) ?? new Set();
      byAddress.set(address, ofAddress.add(request));
      all.add(request);
      request.halfReceived = ofAddress;
      connectionOf(request.raw.socket).receiving = request;
      if (ofAddress.size > maxOfAddress) refuseOldest(ofAddress);
      else if (all.size > max) refuseOldest(all);
    }
    done();
  });

  // The body is there, or is not waited for.
  fastify.addHook('preValidation', (request, _reply, done) => {
    if (request.halfReceived) forget(request, request.halfReceived);
    done();
  });
}
