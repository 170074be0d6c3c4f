import { pageHeaders, PublicUrl, RequireScopes, respondWithPage, Revalidated } from '@animal-store/http-kit';
import type { JsonText } from '@animal-store/kernel';
import { ListVisitDays } from '@animal-store/visits-application';
import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListVisitDaysQuery } from './list-visit-days.query.js';
import { VisitDayDto } from './visit.dto.js';

const PATH = '/v1/visit-days';

@ApiTags('visits')
@ApiExtraModels(VisitDayDto)
@Controller({ path: 'visit-days', version: '1' })
export class VisitDaysController {
  constructor(
    private readonly listVisitDaysUseCase: ListVisitDays,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('visits:read')
  @Revalidated()
  @ApiOperation({
    operationId: 'listVisitDays',
    summary: 'Count visits per day',
    description: 'Returns one page of the days that have had visits. The counts follow bookings and cancellations after a moment.',
  })
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/VisitDays' },
    description: 'One page of days',
    headers: pageHeaders(PATH, { sort: 'day' }, { value: '2030-01-07', id: 20n }),
  })
  async listVisitDays(@Query() query: ListVisitDaysQuery, @Res({ passthrough: true }) reply: FastifyReply): Promise<JsonText> {
    const page = await this.listVisitDaysUseCase.execute(query.within('day', query));
    return respondWithPage(reply, this.publicUrl.of(PATH), query, page);
  }
}
