import type { ErrorDefinition } from '@animal-store/kernel';
import { ApiExtension } from '@nestjs/swagger';

export const INVALID_REQUEST = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The request is not valid.',
} as const satisfies ErrorDefinition;

/** Read, and taken away, where the OpenAPI document is made. */
export const THROWS_EXTENSION = 'x-throws';

/** The errors of its own that an operation answers with; those that every operation shares are documented by the API. */
export const Throws = (...errors: ErrorDefinition[]): MethodDecorator => ApiExtension(THROWS_EXTENSION, errors);
