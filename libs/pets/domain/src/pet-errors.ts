import type { ErrorDefinition } from '@animal-store/kernel';

export const INVALID_PET = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The pet has invalid values.',
} as const satisfies ErrorDefinition;

export const PET_NOT_FOUND = {
  code: 'pet_not_found',
  kind: 'not_found',
  message: 'No animal has this identifier.',
} as const satisfies ErrorDefinition;
