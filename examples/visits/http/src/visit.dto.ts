import { EXAMPLE_ID, INT64_SCHEMA, IsVisibleText } from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import { VISIT_NAME_MAX_LENGTH } from '@animal-store/visits-domain';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'NewVisit' })
export class NewVisitDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: VISIT_NAME_MAX_LENGTH,
    pattern: VISIBLE_TEXT_PATTERN,
    description: 'The name. Stored and returned exactly as sent.',
    example: 'first',
  })
  @IsVisibleText(VISIT_NAME_MAX_LENGTH)
  name!: string;
}

/** The schema of a response in the OpenAPI document. The response body is the return value of the use case. */
@ApiSchema({ name: 'Visit' })
export class VisitDto {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier assigned by the service on creation.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ type: 'string', minLength: 1, maxLength: VISIT_NAME_MAX_LENGTH, description: 'Name.', example: 'first' })
  name!: string;
}
