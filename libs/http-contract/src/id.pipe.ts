import { DomainError, type ErrorDefinition, parseInt64 } from '@animal-store/kernel';
import type { PipeTransform } from '@nestjs/common';

/** Parses an identifier. Throws the not-found error if the text is not an int64. */
export class IdPipe implements PipeTransform<string, bigint> {
  constructor(private readonly notFound: ErrorDefinition) {}

  transform(text: string): bigint {
    const id = parseInt64(text);
    if (id === undefined) throw new DomainError(this.notFound);
    return id;
  }
}
