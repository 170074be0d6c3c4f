import { DomainError, type ErrorDefinition } from '@animal-store/kernel';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';

export const INVALID_REQUEST = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The request is not valid.',
} as const satisfies ErrorDefinition;

/** Extension with the errors of an operation. The generation of the OpenAPI document reads and removes it. */
export const THROWS_EXTENSION = 'x-throws';

/** Documents the errors specific to an operation. The API documents the errors that all operations share. */
export const Throws = (...errors: ErrorDefinition[]): MethodDecorator => ApiExtension(THROWS_EXTENSION, errors);

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
