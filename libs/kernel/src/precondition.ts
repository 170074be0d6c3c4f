import type { ErrorDefinition } from './domain-error.js';

/**
 * Checks the If-Match of a request (RFC 9110, section 13.1.1) against the current representation: the same value that the GET returns.
 * Throws DomainError PRECONDITION_FAILED if its entity tag is not in the header. Does nothing without the header.
 */
export type Precondition = (current: object) => void;

/** Thrown by operations that accept an If-Match. */
export const PRECONDITION_FAILED = {
  code: 'precondition_failed',
  kind: 'precondition_failed',
  message: 'The resource has changed; get it again and send its new ETag in If-Match.',
} as const satisfies ErrorDefinition;

/** Thrown by operations that require an If-Match. */
export const PRECONDITION_REQUIRED = {
  code: 'precondition_required',
  kind: 'precondition_required',
  message: 'The If-Match header is required; send the ETag of the resource.',
} as const satisfies ErrorDefinition;
