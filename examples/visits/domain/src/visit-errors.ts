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

export const VISIT_OVERLAPS = {
  code: 'visit_overlaps',
  kind: 'conflict',
  message: 'The animal has another visit at this time.',
} as const satisfies ErrorDefinition;

export const VISIT_NOT_BOOKED = {
  code: 'visit_not_booked',
  kind: 'conflict',
  message: 'The visit is checked in or cancelled.',
} as const satisfies ErrorDefinition;

export const PET_UNKNOWN = {
  code: 'pet_unknown',
  kind: 'unprocessable',
  message: 'No animal has this petId.',
} as const satisfies ErrorDefinition;

export const REPORT_NOT_FOUND = {
  code: 'report_not_found',
  kind: 'not_found',
  message: 'The visit has no report.',
} as const satisfies ErrorDefinition;

export const REPORT_EXISTS = {
  code: 'report_exists',
  kind: 'conflict',
  message: 'The visit already has a report.',
} as const satisfies ErrorDefinition;
