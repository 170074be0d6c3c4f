import type { ErrorDefinition } from '@animal-store/kernel';

export const INVALID_VISIT = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The visit has invalid values.',
} as const satisfies ErrorDefinition;

export const VISIT_NOT_FOUND = {
  code: 'visit_not_found',
  kind: 'not_found',
  message: 'No visit has this identifier.',
} as const satisfies ErrorDefinition;
