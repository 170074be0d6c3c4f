import { DomainError } from '@animal-store/kernel';
import type { FastifyRequest } from 'fastify';
import { INVALID_REQUEST } from './errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Messages about invalid headers. Errors about the body also name them. */
    headerViolations?: string[];
  }
}

/** Rejects with INVALID_REQUEST after the pipes, so that the error can name the violations of the body. Throws other errors. */
export function rejectHeader(request: FastifyRequest, error: unknown): Promise<never> {
  if (!(error instanceof DomainError) || error.code !== INVALID_REQUEST.code) throw error;
  (request.headerViolations ??= []).push(error.message);
  return new Promise((_resolve, reject) => setImmediate(reject, error));
}
