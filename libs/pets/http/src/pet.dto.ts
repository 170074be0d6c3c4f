import { INT64_RULE } from '@animal-store/kernel';
import { PET_NAME_MAX_LENGTH, PetStatus } from '@animal-store/pets-domain';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The shape of an answer, for the OpenAPI document; answers are what the use cases give. */
@ApiSchema({ name: 'Pet' })
export class PetDto {
  @ApiProperty({
    type: 'integer',
    format: 'int64',
    description: `Unique identifier assigned by the service on creation; ${INT64_RULE}.`,
    example: 42,
  })
  id!: bigint;

  @ApiProperty({ type: 'string', minLength: 1, maxLength: PET_NAME_MAX_LENGTH, description: "The animal's name.", example: 'Rex' })
  name!: string;

  @ApiProperty({ type: 'integer', format: 'int64', description: 'Identifier of the category the animal belongs to.', example: 7 })
  categoryId!: bigint;

  @ApiProperty({ enum: PetStatus, enumName: 'PetStatus', description: 'Availability status.', example: PetStatus.Available })
  status!: PetStatus;
}
