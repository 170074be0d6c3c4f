import { MayBeAbsent, Rule } from '@animal-store/http-contract';
import {
  DEFAULT_PET_STATUS,
  INT64_RULE,
  isCategoryId,
  isPetName,
  isPetStatus,
  PET_NAME_MAX_LENGTH,
  PET_NAME_RULE,
  PET_STATUSES,
  type PetStatus,
} from '@animal-store/pets-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

export const PET_STATUS_RULE = `must be one of ${PET_STATUSES.join(', ')}`;

@ApiSchema({ name: 'NewPet' })
export class NewPetDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: PET_NAME_MAX_LENGTH,
    description: "The animal's name, kept exactly as sent.",
    example: 'Rex',
  })
  @Rule(PET_NAME_RULE, isPetName)
  name!: string;

  @ApiProperty({ type: 'integer', format: 'int64', description: 'Identifier of the category the animal belongs to.', example: 7 })
  @Rule(INT64_RULE, isCategoryId)
  categoryId!: bigint;

  @ApiPropertyOptional({ enum: PET_STATUSES, enumName: 'PetStatus', default: DEFAULT_PET_STATUS, description: 'Availability status.' })
  @MayBeAbsent()
  @Rule(PET_STATUS_RULE, isPetStatus)
  status?: PetStatus;
}
