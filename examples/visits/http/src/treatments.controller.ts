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
  respondWithOutcome,
  respondWithPage,
  Revalidated,
  Throws,
} from '@animal-store/http-kit';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey, type JsonText } from '@animal-store/kernel';
import { AddTreatment, ListTreatments } from '@animal-store/visits-application';
import { type Treatment, VISIT_NOT_FOUND } from '@animal-store/visits-domain';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListTreatmentsQuery, NewTreatmentDto, TreatmentDto } from './treatment.dto.js';

const pathOf = (visitId: bigint) => `/v1/visits/${String(visitId)}/treatments`;
const VISIT_ID = { name: 'visitId', schema: INT64_SCHEMA, description: 'Identifier of the visit.' };

@ApiTags('visits')
@ApiExtraModels(TreatmentDto)
@Controller({ path: 'visits/:visitId/treatments', version: '1' })
export class TreatmentsController {
  constructor(
    private readonly listTreatmentsUseCase: ListTreatments,
    private readonly addTreatmentUseCase: AddTreatment,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('visits:read')
  @Revalidated()
  @Throws(VISIT_NOT_FOUND)
  @ApiOperation({
    operationId: 'listTreatments',
    summary: 'List the treatments of a visit',
    description:
      'Returns one page in ascending order of `id`. If there are more treatments, the `Link` header holds the URL of the next page.',
  })
  @ApiParam(VISIT_ID)
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/Treatments' },
    description: 'One page of treatments',
    headers: pageHeaders(pathOf(EXAMPLE_ID)),
  })
  async listTreatments(
    @Param('visitId', new IdPipe(VISIT_NOT_FOUND)) visitId: bigint,
    @Query() query: ListTreatmentsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const page = await this.listTreatmentsUseCase.execute(visitId, query);
    return respondWithPage(reply, this.publicUrl.of(pathOf(visitId)), query, page);
  }

  @Post()
  @RequireScopes('visits:write')
  @ApiIdempotencyKey()
  @Throws(VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'addTreatment', summary: 'Add a treatment', description: 'Responds after the treatment is durably stored.' })
  @ApiParam(VISIT_ID)
  @ApiBody({ type: NewTreatmentDto })
  @ApiCreatedResponse({ type: TreatmentDto, description: 'Added', headers: createdHeaders() })
  async addTreatment(
    @Param('visitId', new IdPipe(VISIT_NOT_FOUND)) visitId: bigint,
    @Body() newTreatment: NewTreatmentDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Treatment> {
    return respondWithOutcome(reply, await this.addTreatmentUseCase.execute(visitId, newTreatment, key));
  }
}
