import { INT64_RULE, PET_NAME_MAX_LENGTH, PET_STATUSES, type PetStatus } from '@animal-store/pets-domain';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The shape of an answer, for the OpenAPI document; answers are the plain views of the use cases. */
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

  @ApiProperty({ enum: PET_STATUSES, enumName: 'PetStatus', description: 'Availability status.', example: 'available' })
  status!: PetStatus;
}
