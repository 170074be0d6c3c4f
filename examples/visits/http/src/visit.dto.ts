import {
  EXAMPLE_ID,
  INT64_SCHEMA,
  IsInt64,
  IsVisibleText,
  MayBeAbsent,
  Nullable,
  PageQueryOf,
  Rule,
  UtcTime,
} from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import {
  isVisitMinutes,
  REPORT_MAX_BYTES,
  TREATMENT_NAME_MAX_LENGTH,
  VISIT_MINUTES,
  VISIT_MINUTES_RULE,
  VISIT_NOTES_MAX_LENGTH,
  VISIT_REASON_MAX_LENGTH,
  VisitStatus,
} from '@animal-store/visits-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';

const IsVisitMinutes = () => Rule(VISIT_MINUTES_RULE, isVisitMinutes);

const ID = { ...INT64_SCHEMA, description: 'Identifier assigned by the service on creation.', example: EXAMPLE_ID };
const text = (maxLength: number, description: string, example: string) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: VISIBLE_TEXT_PATTERN, description, example }) as const;
const NOTES = text(VISIT_NOTES_MAX_LENGTH, 'Notes for the vet, or null.', 'Bites');

/** What requests and responses have in common. */
abstract class VisitValues {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier of the animal.', example: 1 })
  @IsInt64()
  petId!: bigint;

  @ApiProperty({ description: 'The start.', example: '2030-01-07T09:00:00.000Z' })
  @UtcTime()
  startsAt!: Date;

  @ApiProperty({ type: 'integer', ...VISIT_MINUTES, description: 'Duration in minutes.', example: 30 })
  @IsVisitMinutes()
  durationMinutes!: number;

  @ApiProperty(text(VISIT_REASON_MAX_LENGTH, 'Why the animal comes.', 'Vaccination'))
  @IsVisibleText(VISIT_REASON_MAX_LENGTH)
  reason!: string;
}

@ApiSchema({ name: 'NewVisit' })
export class NewVisitDto extends VisitValues {
  @ApiPropertyOptional(NOTES)
  @MayBeAbsent()
  @Nullable()
  @IsVisibleText(VISIT_NOTES_MAX_LENGTH)
  notes?: string | null;
}

@ApiSchema({ name: 'Visit' })
export class VisitDto extends VisitValues {
  @ApiProperty(ID)
  id!: bigint;

  @ApiProperty({ enum: VisitStatus, enumName: 'VisitStatus', description: 'Progress of the visit.', example: VisitStatus.Booked })
  status!: VisitStatus;

  @ApiProperty({ ...NOTES, nullable: true })
  notes!: string | null;
}

@ApiSchema({ name: 'NewTreatment' })
export class NewTreatmentDto {
  @ApiProperty(text(TREATMENT_NAME_MAX_LENGTH, 'What was done.', 'Rabies vaccine'))
  @IsVisibleText(TREATMENT_NAME_MAX_LENGTH)
  name!: string;
}

@ApiSchema({ name: 'Treatment' })
export class TreatmentDto extends NewTreatmentDto {
  @ApiProperty(ID)
  id!: bigint;

  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier of the visit.', example: EXAMPLE_ID })
  visitId!: bigint;
}

@ApiSchema({ name: 'VisitReport' })
export class VisitReportDto {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier of the visit.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: REPORT_MAX_BYTES, description: 'Size in bytes.', example: 48_213 })
  size!: number;
}

export class ListTreatmentsQuery extends PageQueryOf('treatments') {}
