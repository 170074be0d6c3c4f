import type { ErrorDefinition } from '@animal-store/kernel';

export const INVALID_TREATMENT = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The treatment has invalid values.',
} as const satisfies ErrorDefinition;
