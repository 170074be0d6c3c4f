import { EXAMPLE_ID, INT64_SCHEMA, IsVisibleText, PageQueryOf } from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import { TREATMENT_NAME_MAX_LENGTH } from '@animal-store/visits-domain';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'NewTreatment' })
export class NewTreatmentDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: TREATMENT_NAME_MAX_LENGTH,
    pattern: VISIBLE_TEXT_PATTERN,
    description: 'What was done.',
    example: 'Rabies vaccine',
  })
  @IsVisibleText(TREATMENT_NAME_MAX_LENGTH)
  name!: string;
}

@ApiSchema({ name: 'Treatment' })
export class TreatmentDto extends NewTreatmentDto {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier assigned by the service on creation.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier of the visit.', example: EXAMPLE_ID })
  visitId!: bigint;
}

export class ListTreatmentsQuery extends PageQueryOf('treatments') {}
