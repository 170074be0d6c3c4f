import {
  IdParam,
  ReceivesBytes,
  RequestIdempotencyKey,
  RequireScopes,
  respondWithOutcome,
  Throws,
  createdHeaders,
} from '@animal-store/http-kit';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey } from '@animal-store/kernel';
import { AddReport, GetReport } from '@animal-store/visits-application';
import { REPORT_EXISTS, REPORT_MAX_BYTES, REPORT_NOT_FOUND, VISIT_NOT_FOUND } from '@animal-store/visits-domain';
import { Body, Controller, Get, Post, Res, StreamableFile } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { VisitReportDto } from './visit.dto.js';

const PDF = 'application/pdf';
const VisitId = () => IdParam('visitId', VISIT_NOT_FOUND, 'Identifier of the visit.');

@ApiTags('visits')
@Controller({ path: 'visits/:visitId/report', version: '1' })
export class VisitReportsController {
  constructor(
    private readonly addReportUseCase: AddReport,
    private readonly getReportUseCase: GetReport,
  ) {}

  @Post()
  @RequireScopes('visits:write')
  @ReceivesBytes({ type: PDF, maxBytes: REPORT_MAX_BYTES })
  @Throws(VISIT_NOT_FOUND, REPORT_EXISTS, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'addReport', summary: 'Add the report', description: 'Responds after the report is durably stored.' })
  @ApiCreatedResponse({ type: VisitReportDto, description: 'Added', headers: createdHeaders() })
  async addReport(
    @VisitId() visitId: bigint,
    @Body() pdf: Buffer,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitReportDto> {
    return respondWithOutcome(reply, await this.addReportUseCase.execute(visitId, pdf, key), VisitReportDto);
  }

  @Get()
  @RequireScopes('visits:read')
  @Throws(VISIT_NOT_FOUND, REPORT_NOT_FOUND)
  @ApiOperation({ operationId: 'getReport', summary: 'Get the report', description: 'Returns the report as it was sent.' })
  @ApiProduces(PDF)
  @ApiOkResponse({ schema: { type: 'string', format: 'binary' }, description: 'Found' })
  async getReport(@VisitId() visitId: bigint): Promise<StreamableFile> {
    const pdf = await this.getReportUseCase.execute(visitId);
    return new StreamableFile(pdf, { type: PDF, disposition: `attachment; filename="visit-${String(visitId)}.pdf"` });
  }
}
