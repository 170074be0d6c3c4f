import {
  ApiIdempotencyKey,
  createdHeaders,
  EXAMPLE_ID,
  IdPipe,
  INT64_SCHEMA,
  pageHeaders,
  PublicUrl,
  RequestIdempotencyKey,
  RequireScopes,
  respondWithCreated,
  respondWithPage,
  Revalidated,
  REVALIDATION_HEADERS,
  Throws,
} from '@animal-store/http-kit';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey, type JsonText } from '@animal-store/kernel';
import { CreateVisit, GetVisit, ListVisits } from '@animal-store/visits-application';
import { type Visit, VISIT_NOT_FOUND, type VisitView } from '@animal-store/visits-domain';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListVisitsQuery } from './list-visits.query.js';
import { NewVisitDto, VisitDto } from './visit.dto.js';

const PATH = '/v1/visits';

@ApiTags('visits')
@ApiExtraModels(VisitDto)
@Controller({ path: 'visits', version: '1' })
export class VisitsController {
  constructor(
    private readonly listVisitsUseCase: ListVisits,
    private readonly createVisitUseCase: CreateVisit,
    private readonly getVisitUseCase: GetVisit,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('visits:read')
  @Revalidated()
  @ApiOperation({
    operationId: 'listVisits',
    summary: 'List all visits',
    description: 'Returns one page in ascending order of `id`. If there are more visits, the `Link` header holds the URL of the next page.',
  })
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/Visits' },
    description: 'One page of visits',
    headers: { ...pageHeaders(PATH), ...REVALIDATION_HEADERS },
  })
  async listVisits(@Query() query: ListVisitsQuery, @Res({ passthrough: true }) reply: FastifyReply): Promise<JsonText> {
    const page = await this.listVisitsUseCase.execute({}, query);
    return respondWithPage(reply, this.publicUrl.of(PATH), query, page);
  }

  @Post()
  @RequireScopes('visits:write')
  @ApiIdempotencyKey()
  @Throws(IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({
    operationId: 'createVisit',
    summary: 'Create a new visit',
    description: 'Responds after the visit is durably stored.',
  })
  @ApiBody({ type: NewVisitDto })
  @ApiCreatedResponse({ type: VisitDto, description: 'Created', headers: createdHeaders(`${PATH}/${String(EXAMPLE_ID)}`) })
  async createVisit(
    @Body() newVisit: NewVisitDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Visit> {
    const { visit, replayed } = await this.createVisitUseCase.execute(newVisit, key);
    return respondWithCreated(reply, this.publicUrl.of(`${PATH}/${String(visit.id)}`), visit, replayed);
  }

  @Get(':visitId')
  @RequireScopes('visits:read')
  @Revalidated()
  @Throws(VISIT_NOT_FOUND)
  @ApiOperation({ operationId: 'getVisit', summary: 'Get one visit', description: 'Returns the visit with this identifier.' })
  @ApiParam({ name: 'visitId', schema: INT64_SCHEMA, description: 'Identifier of the visit.' })
  @ApiOkResponse({ type: VisitDto, description: 'Found', headers: REVALIDATION_HEADERS })
  async getVisit(@Param('visitId', new IdPipe(VISIT_NOT_FOUND)) visitId: bigint): Promise<VisitView> {
    return this.getVisitUseCase.execute(visitId);
  }
}
