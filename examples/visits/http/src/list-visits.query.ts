import { INT64_SCHEMA, MayBeAbsent, OrderedPageQueryOf, QueryInt64, QueryTime } from '@animal-store/http-kit';
import { VisitStatus } from '@animal-store/visits-domain';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsEnum } from 'class-validator';

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
