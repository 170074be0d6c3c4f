import type { ErrorDefinition } from '@animal-store/kernel';

export const MISSING_API_KEY = {
  code: 'missing_api_key',
  kind: 'unauthenticated',
  message: 'Send an API key: "Authorization: Bearer <API_KEY>".',
} as const satisfies ErrorDefinition;

/** The same error for keys that are malformed, unknown, expired, revoked or of a disabled client: callers cannot distinguish them. */
export const INVALID_API_KEY = {
  code: 'invalid_api_key',
  kind: 'unauthenticated',
  message: 'The API key is not valid.',
} as const satisfies ErrorDefinition;

export const INSUFFICIENT_SCOPE = {
  code: 'insufficient_scope',
  kind: 'forbidden',
  message: 'The API key lacks a scope that this operation requires.',
} as const satisfies ErrorDefinition;

// The errors of key management, which has no HTTP operations.

export const INVALID_KEY_REQUEST = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The API key has invalid values.',
} as const satisfies ErrorDefinition;

export const API_KEY_NOT_FOUND = {
  code: 'api_key_not_found',
  kind: 'not_found',
  message: 'No API key has this identifier.',
} as const satisfies ErrorDefinition;

export const CLIENT_NOT_FOUND = {
  code: 'client_not_found',
  kind: 'not_found',
  message: 'No client has this name.',
} as const satisfies ErrorDefinition;

export const API_KEY_NOT_ACTIVE = {
  code: 'api_key_not_active',
  kind: 'unprocessable',
  message: 'The API key is expired or revoked.',
} as const satisfies ErrorDefinition;
