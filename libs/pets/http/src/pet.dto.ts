import { EXAMPLE_ID, INT64_SCHEMA, MayBeAbsent, Rule } from '@animal-store/http-contract';
import { INT64_RULE, isInt64, VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import {
  DEFAULT_PET_STATUS,
  isPetName,
  isPetStatus,
  PET_NAME_MAX_LENGTH,
  PET_NAME_RULE,
  PET_STATUS_RULE,
  PetStatus,
} from '@animal-store/pets-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

const CATEGORY_ID = { ...INT64_SCHEMA, description: 'Identifier of the category the animal belongs to.', example: EXAMPLE_ID };

@ApiSchema({ name: 'NewPet' })
export class NewPetDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: PET_NAME_MAX_LENGTH,
    pattern: VISIBLE_TEXT_PATTERN,
    description: "The animal's name. Stored and returned exactly as sent.",
    example: 'Rex',
  })
  @Rule(PET_NAME_RULE, isPetName)
  name!: string;

  @ApiProperty(CATEGORY_ID)
  @Rule(INT64_RULE, isInt64)
  categoryId!: bigint;

  // Without the keyword `default`: if a member has one, some generators make the member required.
  @ApiPropertyOptional({ enum: PetStatus, enumName: 'PetStatus', description: `Availability status. Default: \`${DEFAULT_PET_STATUS}\`.` })
  @MayBeAbsent()
  @Rule(PET_STATUS_RULE, isPetStatus)
  status?: PetStatus;
}

/** The schema of a response in the OpenAPI document. The response body is the return value of the use case. */
@ApiSchema({ name: 'Pet' })
export class PetDto {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Unique identifier assigned by the service on creation.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ type: 'string', minLength: 1, maxLength: PET_NAME_MAX_LENGTH, description: "The animal's name.", example: 'Rex' })
  name!: string;

  @ApiProperty(CATEGORY_ID)
  categoryId!: bigint;

  @ApiProperty({ enum: PetStatus, enumName: 'PetStatus', description: 'Availability status.', example: PetStatus.Available })
  status!: PetStatus;
}
