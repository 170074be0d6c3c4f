import {
  createdHeaders,
  EXAMPLE_ID,
  IdParam,
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
import { CreateTreatment, ListTreatments } from '@animal-store/visits-application';
import { VISIT_NOT_FOUND } from '@animal-store/visits-domain';
import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListTreatmentsQuery, NewTreatmentDto, TreatmentDto } from './treatment.dto.js';

const pathOf = (visitId: bigint) => `/v1/visits/${String(visitId)}/treatments`;

@ApiTags('visits')
@ApiExtraModels(TreatmentDto)
@Controller({ path: 'visits/:visitId/treatments', version: '1' })
export class TreatmentsController {
  constructor(
    private readonly listTreatmentsUseCase: ListTreatments,
    private readonly createTreatmentUseCase: CreateTreatment,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('visits:read')
  @Revalidated()
  @Throws(VISIT_NOT_FOUND)
  @ApiOperation({ operationId: 'listTreatments', summary: 'List treatments', description: 'Returns one page in the order of `id`.' })
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/Treatments' },
    description: 'One page of treatments',
    headers: pageHeaders(pathOf(EXAMPLE_ID)),
  })
  async listTreatments(
    @IdParam('visitId', VISIT_NOT_FOUND, 'Identifier of the visit.') visitId: bigint,
    @Query() query: ListTreatmentsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const url = this.publicUrl.of(pathOf(visitId));
    const page = await this.listTreatmentsUseCase.execute({ visitId }, query.pageOf(url));
    return respondWithPage(reply, url, query, page, TreatmentDto);
  }

  @Post()
  @RequireScopes('visits:write')
  @Throws(VISIT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({
    operationId: 'createTreatment',
    summary: 'Add a treatment',
    description: 'Responds after the treatment is durably stored.',
  })
  @ApiBody({ type: NewTreatmentDto })
  @ApiCreatedResponse({ type: TreatmentDto, description: 'Added', headers: createdHeaders() })
  async createTreatment(
    @IdParam('visitId', VISIT_NOT_FOUND, 'Identifier of the visit.') visitId: bigint,
    @Body() newTreatment: NewTreatmentDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TreatmentDto> {
    const outcome = await this.createTreatmentUseCase.execute({ ...newTreatment, visitId }, key);
    return respondWithOutcome(reply, outcome, TreatmentDto);
  }
}
