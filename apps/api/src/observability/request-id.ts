import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { redactKeys } from '@animal-store/access-domain';

const REQUEST_ID = /^[!-~]{1,128}$/;

/** The schema of the header in the OpenAPI document. */
export const REQUEST_ID_SCHEMA = { type: 'string', pattern: REQUEST_ID.source } as const;

export function newRequestId(): string {
  return randomUUID();
}

/** Returns the caller's X-Request-Id if it is 1 to 128 visible ASCII characters without an API key, otherwise a generated one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) && redactKeys(given) === given ? given : newRequestId();
}
