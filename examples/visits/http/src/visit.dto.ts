import {
  EXAMPLE_ID,
  INT64_SCHEMA,
  IsInt64,
  IsVisibleText,
  MayBeAbsent,
  Nullable,
  OrderedPageQueryOf,
  QueryInt64,
  QueryTime,
  Rule,
  UtcTime,
} from '@animal-store/http-kit';
import { VISIBLE_TEXT_PATTERN } from '@animal-store/kernel';
import {
  isVisitMinutes,
  REPORT_MAX_BYTES,
  VISIT_MINUTES,
  VISIT_MINUTES_RULE,
  VISIT_NOTES_MAX_LENGTH,
  VISIT_REASON_MAX_LENGTH,
  VisitStatus,
} from '@animal-store/visits-domain';
import { ApiProperty, ApiPropertyOptional, ApiSchema, PartialType, PickType } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';

const IsVisitMinutes = () => Rule(VISIT_MINUTES_RULE, isVisitMinutes);

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

const CHANGEABLE = ['durationMinutes', 'reason', 'notes'] as const;

/** Each member may be absent. Only `notes` may be null. */
@ApiSchema({ name: 'VisitChanges' })
export class VisitChangesDto extends PartialType(PickType(NewVisitDto, CHANGEABLE), { skipNullProperties: false }) {}

@ApiSchema({ name: 'Visit' })
export class VisitDto extends VisitValues {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier assigned by the service on creation.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ enum: VisitStatus, enumName: 'VisitStatus', description: 'Progress of the visit.', example: VisitStatus.Booked })
  status!: VisitStatus;

  @ApiProperty({ ...NOTES, nullable: true })
  notes!: string | null;
}

@ApiSchema({ name: 'ListedVisit' })
export class ListedVisitDto extends VisitDto {
  @ApiProperty({ type: 'string', nullable: true, description: 'The name of the animal.', example: 'Rex' })
  petName!: string | null;
}

export class ListVisitsQuery extends OrderedPageQueryOf('visits', { sort: { startsAt: 'time' }, default: 'startsAt' }) {
  @ApiPropertyOptional({ enum: VisitStatus, enumName: 'VisitStatus', description: 'Returns only visits with this status.' })
  @MayBeAbsent()
  @IsEnum(VisitStatus)
  status?: VisitStatus;

  @ApiPropertyOptional({ ...INT64_SCHEMA, description: 'Returns only visits of this animal.' })
  @MayBeAbsent()
  @QueryInt64()
  petId?: bigint;

  @ApiPropertyOptional({ description: 'Returns only visits that start at this time or later.' })
  @MayBeAbsent()
  @QueryTime()
  from?: Date;

  @ApiPropertyOptional({ description: 'Returns only visits that start before this time.' })
  @MayBeAbsent()
  @QueryTime()
  to?: Date;
}

@ApiSchema({ name: 'VisitReport' })
export class VisitReportDto {
  @ApiProperty({ ...INT64_SCHEMA, description: 'Identifier of the visit.', example: EXAMPLE_ID })
  id!: bigint;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: REPORT_MAX_BYTES, description: 'Size in bytes.', example: 48_213 })
  size!: number;
}
