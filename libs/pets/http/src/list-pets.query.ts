import { INT64_SCHEMA, MayBeAbsent, PageQueryOf, QueryInt64, Rule } from '@animal-store/http-contract';
import { isPetStatus, PET_STATUS_RULE, PetStatus } from '@animal-store/pets-domain';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { PET_CURSORS } from './pet-cursors.js';

export class ListPetsQuery extends PageQueryOf('animals', PET_CURSORS) {
  @ApiPropertyOptional({ enum: PetStatus, enumName: 'PetStatus', description: 'Returns only animals with this availability status.' })
  @MayBeAbsent()
  @Rule(PET_STATUS_RULE, isPetStatus)
  status?: PetStatus;

  @ApiPropertyOptional({ ...INT64_SCHEMA, description: 'Returns only the animal with this identifier, or an empty page.' })
  @MayBeAbsent()
  @QueryInt64()
  id?: bigint;
}
