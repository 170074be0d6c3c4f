import { INT64_SCHEMA, MayBeAbsent, PageQueryOf, QueryInt64 } from '@animal-store/http-kit';
import { PET_STATUS_RULE, PetStatus } from '@animal-store/pets-domain';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';

export class ListPetsQuery extends PageQueryOf('animals') {
  @ApiPropertyOptional({ enum: PetStatus, enumName: 'PetStatus', description: 'Returns only animals with this availability status.' })
  @MayBeAbsent()
  @IsEnum(PetStatus, { message: `$property ${PET_STATUS_RULE}` })
  status?: PetStatus;

  @ApiPropertyOptional({ ...INT64_SCHEMA, description: 'Returns only the animal with this identifier, or an empty page.' })
  @MayBeAbsent()
  @QueryInt64()
  id?: bigint;
}
