import { EXAMPLE_ID, INT64_SCHEMA, IsInt64, IsVisibleText, MayBeAbsent, PageQueryOf, QueryInt64 } from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import { DEFAULT_PET_STATUS, PET_NAME_MAX_LENGTH, PET_STATUS_RULE, PetStatus } from '@animal-store/pets-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';

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
  @IsVisibleText(PET_NAME_MAX_LENGTH)
  name!: string;

  @ApiProperty(CATEGORY_ID)
  @IsInt64()
  categoryId!: bigint;

  // Without the keyword `default`: if a member has one, some generators make the member required.
  @ApiPropertyOptional({ enum: PetStatus, enumName: 'PetStatus', description: `Availability status. Default: \`${DEFAULT_PET_STATUS}\`.` })
  @MayBeAbsent()
  @IsEnum(PetStatus, { message: `$property ${PET_STATUS_RULE}` })
  status?: PetStatus;
}

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
