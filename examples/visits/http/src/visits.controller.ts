import {
  createdHeaders,
  EXAMPLE_ID,
  IdParam,
  IfMatch,
  pageHeaders,
  PublicUrl,
  RateLimit,
  replayedHeaders,
  RequestIdempotencyKey,
  RequireScopes,
  respondWithOutcome,
  respondWithoutBody,
  respondWithPage,
  Revalidated,
  SendsEntityTag,
  Throws,
  toDto,
} from '@animal-store/http-kit';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey, type JsonText, type Precondition } from '@animal-store/kernel';
import { CancelVisit, ChangeVisit, CheckInVisit, CreateVisit, DeleteVisit, GetVisit, ListVisits } from '@animal-store/visits-application';
import { PET_UNKNOWN, VISIT_NOT_BOOKED, VISIT_NOT_FOUND, VISIT_OVERLAPS } from '@animal-store/visits-domain';
import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListedVisitDto, ListVisitsQuery, NewVisitDto, VisitChangesDto, VisitDto } from './visit.dto.js';

const PATH = '/v1/visits';
const VISITS = { $ref: '#/components/schemas/Visits' };
const VisitId = () => IdParam('visitId', VISIT_NOT_FOUND, 'Identifier of the visit.');
const FIRST = { value: new Date('2030-01-07T09:00:00.000Z'), id: 20n };

@ApiTags('visits')
@ApiExtraModels(ListedVisitDto)
@Controller({ path: 'visits', version: '1' })
export class VisitsController {
  constructor(
    private readonly listVisitsUseCase: ListVisits,
    private readonly createVisitUseCase: CreateVisit,
    private readonly getVisitUseCase: GetVisit,
    private readonly checkInVisitUseCase: CheckInVisit,
    private readonly changeVisitUseCase: ChangeVisit,
    private readonly cancelVisitUseCase: CancelVisit,
    private readonly deleteVisitUseCase: DeleteVisit,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('visits:read')
  @Revalidated()
  @ApiOperation({ operationId: 'listVisits', summary: 'List all visits', description: 'Returns one page in the order of `startsAt`.' })
  @ApiOkResponse({ schema: VISITS, description: 'One page', headers: pageHeaders(PATH, { sort: 'startsAt' }, FIRST) })
  async listVisits(@Query() query: ListVisitsQuery, @Res({ passthrough: true }) reply: FastifyReply): Promise<JsonText> {
    const url = this.publicUrl.of(PATH);
    const request = query.pageOf(url, 'startsAt', query);
    const page = await this.listVisitsUseCase.execute({ petId: query.petId, status: query.status }, request);
    return respondWithPage(reply, url, query, page, ListedVisitDto);
  }

  @Post()
  @RequireScopes('visits:write')
  @RateLimit({ name: 'visits', requestsPerMinute: 60 })
  @SendsEntityTag()
  @Throws(PET_UNKNOWN, VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'createVisit', summary: 'Book a visit', description: 'Responds after the visit is durably stored.' })
  @ApiBody({ type: NewVisitDto })
  @ApiCreatedResponse({ type: VisitDto, description: 'Booked', headers: createdHeaders(`${PATH}/${String(EXAMPLE_ID)}`) })
  async createVisit(
    @Body() newVisit: NewVisitDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitDto> {
    const outcome = await this.createVisitUseCase.execute(newVisit, key);
    return respondWithOutcome(reply, outcome, VisitDto, this.publicUrl.of(`${PATH}/${String(outcome.result.id)}`));
  }

  @Get(':visitId')
  @RequireScopes('visits:read')
  @Revalidated()
  @Throws(VISIT_NOT_FOUND)
  @ApiOperation({ operationId: 'getVisit', summary: 'Get one visit', description: 'Returns the visit with this identifier.' })
  @ApiOkResponse({ type: VisitDto, description: 'Found' })
  async getVisit(@VisitId() visitId: bigint): Promise<VisitDto> {
    return toDto(VisitDto, await this.getVisitUseCase.execute(visitId));
  }

  @Patch(':visitId')
  @RequireScopes('visits:write')
  @Throws(VISIT_NOT_FOUND, VISIT_NOT_BOOKED, VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({
    operationId: 'changeVisit',
    summary: 'Change a visit',
    description: 'Absent members stay as they are. The visit must be booked.',
  })
  @ApiOkResponse({ type: VisitDto, description: 'Changed', headers: replayedHeaders })
  async changeVisit(
    @VisitId() visitId: bigint,
    @Body() changes: VisitChangesDto,
    @IfMatch({ required: false, type: VisitDto }) precondition: Precondition,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitDto> {
    return respondWithOutcome(reply, await this.changeVisitUseCase.execute(visitId, changes, precondition, key), VisitDto);
  }

  @Delete(':visitId')
  @HttpCode(204)
  @RequireScopes('visits:write')
  @Throws(VISIT_NOT_FOUND, VISIT_NOT_BOOKED, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({
    operationId: 'deleteVisit',
    summary: 'Delete a visit',
    description: 'Deletes its treatments and its report, too. The visit must be booked.',
  })
  @ApiNoContentResponse({ description: 'Deleted', headers: replayedHeaders })
  async deleteVisit(
    @VisitId() visitId: bigint,
    @IfMatch({ required: false, type: VisitDto }) precondition: Precondition,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    respondWithoutBody(reply, await this.deleteVisitUseCase.execute(visitId, precondition, key));
  }

  @Post(':visitId/check-in')
  @HttpCode(200)
  @RequireScopes('visits:write')
  @Throws(VISIT_NOT_FOUND, VISIT_NOT_BOOKED, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'checkInVisit', summary: 'Check in', description: 'The animal has arrived. The visit must be booked.' })
  @ApiOkResponse({ type: VisitDto, description: 'Checked in', headers: replayedHeaders })
  async checkInVisit(
    @VisitId() visitId: bigint,
    @IfMatch({ required: false, type: VisitDto }) precondition: Precondition,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitDto> {
    return respondWithOutcome(reply, await this.checkInVisitUseCase.execute(visitId, precondition, key), VisitDto);
  }

  @Post(':visitId/cancel')
  @HttpCode(200)
  @RequireScopes('visits:write')
  @Throws(VISIT_NOT_FOUND, VISIT_NOT_BOOKED, IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'cancelVisit', summary: 'Cancel a visit', description: 'Its time is free again. The visit must be booked.' })
  @ApiOkResponse({ type: VisitDto, description: 'Cancelled', headers: replayedHeaders })
  async cancelVisit(
    @VisitId() visitId: bigint,
    @IfMatch({ required: false, type: VisitDto }) precondition: Precondition,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitDto> {
    return respondWithOutcome(reply, await this.cancelVisitUseCase.execute(visitId, precondition, key), VisitDto);
  }
}
