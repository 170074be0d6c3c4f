import {
  EXAMPLE_ID,
  INT64_SCHEMA,
  IsInt64,
  IsVisibleText,
  MayBeAbsent,
  Nullable,
  Rule,
  UTC_TIME_SCHEMA,
  UtcTime,
} from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import {
  isVisitMinutes,
  VISIT_MINUTES,
  VISIT_MINUTES_RULE,
  VISIT_NOTES_MAX_LENGTH,
  VISIT_REASON_MAX_LENGTH,
  VisitStatus,
} from '@animal-store/visits-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

const IsVisitMinutes = () => Rule(VISIT_MINUTES_RULE, isVisitMinutes);

const ID = { ...INT64_SCHEMA, description: 'Identifier assigned by the service on creation.', example: EXAMPLE_ID };
const PET_ID = { ...INT64_SCHEMA, description: 'Identifier of the animal.', example: 1 };
const STARTS_AT = { description: 'The start.', example: '2030-01-07T09:00:00.000Z' };
const DURATION = { type: 'integer', ...VISIT_MINUTES, description: 'Duration in minutes.', example: 30 } as const;
const text = (maxLength: number, description: string, example: string) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: VISIBLE_TEXT_PATTERN, description, example }) as const;
const REASON = text(VISIT_REASON_MAX_LENGTH, 'Why the animal comes.', 'Vaccination');
const NOTES = text(VISIT_NOTES_MAX_LENGTH, 'Notes for the vet, or null. Not in lists.', 'Bites');
const STATUS = { enum: VisitStatus, enumName: 'VisitStatus', description: 'Progress of the visit.', example: VisitStatus.Booked };

@ApiSchema({ name: 'NewVisit' })
export class NewVisitDto {
  @ApiProperty(PET_ID)
  @IsInt64()
  petId!: bigint;

  @ApiProperty(STARTS_AT)
  @UtcTime()
  startsAt!: Date;

  @ApiProperty(DURATION)
  @IsVisitMinutes()
  durationMinutes!: number;

  @ApiProperty(REASON)
  @IsVisibleText(VISIT_REASON_MAX_LENGTH)
  reason!: string;

  @ApiPropertyOptional(NOTES)
  @MayBeAbsent()
  @Nullable()
  @IsVisibleText(VISIT_NOTES_MAX_LENGTH)
  notes?: string | null;
}

/** The schema of an item of the list. */
@ApiSchema({ name: 'VisitSummary' })
export class VisitSummaryDto {
  @ApiProperty(ID)
  id!: bigint;

  @ApiProperty(PET_ID)
  petId!: bigint;

  @ApiProperty({ ...UTC_TIME_SCHEMA, ...STARTS_AT })
  startsAt!: Date;

  @ApiProperty(DURATION)
  durationMinutes!: number;

  @ApiProperty(STATUS)
  status!: VisitStatus;

  @ApiProperty(REASON)
  reason!: string;
}

/** The schema of a response in the OpenAPI document. The response body is the return value of the use case. */
@ApiSchema({ name: 'Visit' })
export class VisitDto extends VisitSummaryDto {
  @ApiProperty({ ...NOTES, nullable: true })
  notes!: string | null;
}
