import {
  createdHeaders,
  Deprecated,
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
  toDto,
} from '@animal-store/http-kit';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey, type JsonText } from '@animal-store/kernel';
import { CreatePet, GetPet, ListPets } from '@animal-store/pets-application';
import { PET_NOT_FOUND } from '@animal-store/pets-domain';
import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListPetsQuery, NewPetDto, PetDto } from './pet.dto.js';

const PATH = '/v1/pets';

@ApiTags('pets')
@ApiExtraModels(PetDto)
@Controller({ path: 'pets', version: '1' })
export class PetsController {
  constructor(
    private readonly listPetsUseCase: ListPets,
    private readonly createPetUseCase: CreatePet,
    private readonly getPetUseCase: GetPet,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('pets:read')
  @Revalidated()
  @ApiOperation({
    operationId: 'listPets',
    summary: 'List all animals',
    description:
      'Returns one page of the catalogue in ascending order of `id`. If there are more animals, the `Link` header holds the URL of the next page.',
  })
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/Pets' },
    description: 'A paginated list of animals',
    headers: pageHeaders(PATH, { status: 'available' }),
  })
  async listPets(@Query() query: ListPetsQuery, @Res({ passthrough: true }) reply: FastifyReply): Promise<JsonText> {
    const url = this.publicUrl.of(PATH);
    const page = await this.listPetsUseCase.execute({ status: query.status, id: query.id }, query.pageOf(url));
    return respondWithPage(reply, url, query, page, PetDto);
  }

  @Post()
  @RequireScopes('pets:write')
  @Throws(IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({
    operationId: 'createPet',
    summary: 'Add an animal',
    description:
      'Responds after the animal is durably stored. `Location` is the URL of the deprecated operation `getPet`. To get the animal later, use `listPets` with the `id` filter.',
  })
  @ApiBody({ type: NewPetDto })
  @ApiCreatedResponse({ type: PetDto, description: 'Animal added', headers: createdHeaders(`${PATH}/${String(EXAMPLE_ID)}`) })
  async createPet(
    @Body() newPet: NewPetDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PetDto> {
    const outcome = await this.createPetUseCase.execute(newPet, key);
    return respondWithOutcome(reply, outcome, PetDto, this.publicUrl.of(`${PATH}/${String(outcome.result.id)}`));
  }

  @Get(':petId')
  @RequireScopes('pets:read')
  @Revalidated()
  @Throws(PET_NOT_FOUND)
  @ApiOperation({
    operationId: 'getPet',
    summary: 'Get an animal',
    deprecated: true,
    description:
      'To be removed on 5 December 2030. The replacement is `listPets`, with the `status` filter for animals in a state, or with the `id` filter for a single animal.',
  })
  @Deprecated({ deprecatedAt: new Date('2025-12-05T00:00:00Z'), removedAt: new Date('2030-12-05T00:00:00Z'), successor: PATH })
  @ApiOkResponse({ type: PetDto, description: 'Animal found' })
  async getPet(@IdParam('petId', PET_NOT_FOUND, 'Identifier of the animal.') petId: bigint): Promise<PetDto> {
    return toDto(PetDto, await this.getPetUseCase.execute(petId));
  }
}
