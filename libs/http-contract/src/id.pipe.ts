import { DomainError, type ErrorDefinition, parseInt64 } from '@animal-store/kernel';
import type { PipeTransform } from '@nestjs/common';

/** Text that is no int64 identifies nothing: the same error as for what is not there. */
export class IdPipe implements PipeTransform<string, bigint> {
  constructor(private readonly notFound: ErrorDefinition) {}

  transform(text: string): bigint {
    const id = parseInt64(text);
    if (id === undefined) throw new DomainError(this.notFound);
    return id;
  }
}
