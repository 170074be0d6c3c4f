import {
  Deprecated,
  IdempotentByKey,
  PublicUrl,
  REPLAY_HEADERS,
  RequestIdempotencyKey,
  RequireScopes,
  Revalidated,
  REVALIDATION_HEADERS,
  Throws,
} from '@animal-store/http-contract';
import type { JsonText } from '@animal-store/kernel';
import { CreatePet, GetPet, ListPets } from '@animal-store/pets-application';
import { IDEMPOTENCY_KEY_REUSED, type IdempotencyKey, type Pet, PET_NOT_FOUND, type PetId, type PetView } from '@animal-store/pets-domain';
import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiExtraModels, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ListPetsQuery } from './list-pets.query.js';
import { NewPetDto } from './new-pet.dto.js';
import { decodePetCursor, encodePetCursor } from './pet-cursor.js';
import { PetDto } from './pet.dto.js';
import { PetIdPipe } from './pet-id.pipe.js';

const PATH = '/v1/pets';

const LINK_HEADER = {
  description: 'The next page (RFC 8288), exactly when a further animal exists. Follow it as it is.',
  schema: { type: 'string' },
  example: '</v1/pets?limit=20&status=available&cursor=AQEAAAAAAAAAFAHpw3Y>; rel="next"',
} as const;
const LOCATION_HEADER = {
  description: 'Address of the new animal.',
  required: true,
  schema: { type: 'string' },
  example: '/v1/pets/42',
} as const;

@ApiTags('pets')
@ApiExtraModels(PetDto)
@Controller({ path: 'pets', version: '1' })
export class PetsController {
  constructor(
    private readonly lister: ListPets,
    private readonly creator: CreatePet,
    private readonly getter: GetPet,
    private readonly publicUrl: PublicUrl,
  ) {}

  @Get()
  @RequireScopes('pets:read')
  @Revalidated()
  @ApiOperation({
    operationId: 'listPets',
    summary: 'List all animals',
    description:
      'A page of the catalogue in ascending order of `id`. While a further animal exists the `Link` header leads to the next page.',
  })
  @ApiOkResponse({
    schema: { $ref: '#/components/schemas/Pets' },
    description: 'A paginated list of animals',
    headers: { Link: LINK_HEADER, ...REVALIDATION_HEADERS },
  })
  async listPets(@Query() { limit, status, cursor }: ListPetsQuery, @Res({ passthrough: true }) reply: FastifyReply): Promise<JsonText> {
    const after = cursor === undefined ? undefined : decodePetCursor(cursor, status);
    const { pets, next } = await this.lister.execute({ limit, status, after });
    if (next !== undefined) {
      // No part of it needs percent-encoding.
      const query = `limit=${String(limit)}${status === undefined ? '' : `&status=${status}`}&cursor=${encodePetCursor(next, status)}`;
      reply.header('Link', `<${this.publicUrl.of(PATH)}?${query}>; rel="next"`);
    }
    return pets;
  }

  @Post()
  @RequireScopes('pets:write')
  @IdempotentByKey()
  @Throws(IDEMPOTENCY_KEY_REUSED)
  @ApiOperation({ operationId: 'createPet', summary: 'Add an animal', description: 'Answers when the animal is durably stored.' })
  @ApiBody({ type: NewPetDto })
  @ApiCreatedResponse({ type: PetDto, description: 'Animal added', headers: { Location: LOCATION_HEADER, ...REPLAY_HEADERS } })
  async createPet(
    @Body() newPet: NewPetDto,
    @RequestIdempotencyKey() key: IdempotencyKey | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Pet> {
    const { pet, replayed } = await this.creator.execute(newPet, key);
    reply.header('Location', this.publicUrl.of(`${PATH}/${String(pet.id)}`));
    if (replayed) reply.header('Idempotent-Replayed', 'true');
    return pet;
  }

  @Get(':petId')
  @RequireScopes('pets:read')
  @Revalidated()
  @Throws(PET_NOT_FOUND)
  @ApiOperation({
    operationId: 'getPet',
    summary: 'Get an animal',
    deprecated: true,
    description: 'To be removed on 5 December 2030; use `listPets` with the `status` filter.',
  })
  @Deprecated({ deprecatedAt: new Date('2025-12-05T00:00:00Z'), removedAt: new Date('2030-12-05T00:00:00Z'), successor: PATH })
  @ApiParam({ name: 'petId', schema: { type: 'integer', format: 'int64' }, description: 'Identifier of the animal.' })
  @ApiOkResponse({ type: PetDto, description: 'Animal found', headers: { ...REVALIDATION_HEADERS } })
  async getPet(@Param('petId', PetIdPipe) petId: PetId): Promise<PetView> {
    return this.getter.execute(petId);
  }
}
