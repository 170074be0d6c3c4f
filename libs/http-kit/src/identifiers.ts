import { DomainError, type ErrorDefinition, parseInt64 } from '@animal-store/kernel';
import type { PipeTransform } from '@nestjs/common';

/** The schema of an int64 in the OpenAPI document. */
export const INT64_SCHEMA = { type: 'integer', format: 'int64' } as const;

/** The identifier in examples of the OpenAPI document. It is above 2^53, so a JavaScript number would round it. */
export const EXAMPLE_ID = 2n ** 53n + 1n;

/** Parses an identifier. Throws the not-found error if the text is not an int64. */
export class IdPipe implements PipeTransform<string, bigint> {
  constructor(private readonly notFound: ErrorDefinition) {}

  transform(text: string): bigint {
    const id = parseInt64(text);
    if (id === undefined) throw new DomainError(this.notFound);
    return id;
  }
}
