import { DomainError } from '@animal-store/kernel';
import type { FastifyRequest } from 'fastify';
import { INVALID_REQUEST } from './errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Messages about invalid headers. Errors about the body also name them. */
    headerViolations?: string[];
  }
}

/** Returns what `read` returns. If it throws INVALID_REQUEST, rejects after the pipes, so that the error can name the violations of the body. */
export function readHeader<Value>(request: FastifyRequest, read: () => Value): Value | Promise<never> {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== INVALID_REQUEST.code) throw error;
    (request.headerViolations ??= []).push(error.message);
    return new Promise((_resolve, reject) => setImmediate(reject, error));
  }
}
