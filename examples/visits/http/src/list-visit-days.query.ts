import { MayBeAbsent, OrderedPageQueryOf, Rule } from '@animal-store/http-kit';
import { isVisitDay, VISIT_DAY_RULE } from '@animal-store/visits-domain';
import { ApiPropertyOptional } from '@nestjs/swagger';

const DAY = { type: 'string', format: 'date' } as const;
const IsVisitDay = () => Rule(VISIT_DAY_RULE, isVisitDay);

export class ListVisitDaysQuery extends OrderedPageQueryOf('days', { sort: { day: 'text' }, default: 'day' }) {
  @ApiPropertyOptional({ ...DAY, description: 'Returns only this day and later ones.' })
  @MayBeAbsent()
  @IsVisitDay()
  from?: string;

  @ApiPropertyOptional({ ...DAY, description: 'Returns only days before this one.' })
  @MayBeAbsent()
  @IsVisitDay()
  to?: string;
}
