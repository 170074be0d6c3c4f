import type { ErrorDefinition } from '@animal-store/kernel';
import { ApiExtension } from '@nestjs/swagger';

export const INVALID_REQUEST = {
  code: 'invalid_request',
  kind: 'invalid',
  message: 'The request is not valid.',
} as const satisfies ErrorDefinition;

/** Extension with the errors of an operation. The generation of the OpenAPI document reads and removes it. */
export const THROWS_EXTENSION = 'x-throws';

/** Documents the errors specific to an operation. The API documents the errors that all operations share. */
export const Throws = (...errors: ErrorDefinition[]): MethodDecorator => ApiExtension(THROWS_EXTENSION, errors);
