import { DomainError } from '@animal-store/kernel';
import { parsePetId, PET_NOT_FOUND, type PetId } from '@animal-store/pets-domain';
import type { PipeTransform } from '@nestjs/common';

/** Text that is no int64 identifies no pet: 404, as for a pet that is not there. */
export class PetIdPipe implements PipeTransform<string, PetId> {
  transform(text: string): PetId {
    const id = parsePetId(text);
    if (id === undefined) throw new DomainError(PET_NOT_FOUND);
    return id;
  }
}
