import { DomainError, type ErrorDefinition, parseInt64 } from '@animal-store/kernel';
import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';

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

/** Injects an identifier of the path, and documents it. Throws the not-found error if its text is not an int64. */
export const IdParam =
  (name: string, notFound: ErrorDefinition, description: string): ParameterDecorator =>
  (target, key = '', index) => {
    Param(name, new IdPipe(notFound))(target, key, index);
    ApiParam({ name, schema: INT64_SCHEMA, description })(target, key, Object.getOwnPropertyDescriptor(target, key) as PropertyDescriptor);
  };
