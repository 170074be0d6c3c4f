import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Res,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { Column, Entity, IsNull, MoreThan, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { hashOfBearer, KeyCache, printPort, requiredVariable, UNAUTHORIZED } from './peer.js';

// A typical service: NestJS on Express, TypeORM repositories, the default ValidationPipe.
const STATUSES = ['available', 'pending', 'sold'];

@Entity({ schema: 'pets', name: 'pets' })
class Pet {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('text')
  name!: string;

  @Column('bigint', { name: 'category_id' })
  categoryId!: number;

  @Column('text')
  status!: string;
}

@Entity({ schema: 'access', name: 'api_keys' })
class ApiKey {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: number;

  @Column('bytea')
  hash!: Buffer;

  @Column('timestamptz', { name: 'revoked_at', nullable: true })
  revokedAt!: Date | null;
}

class ListQuery {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 20;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  after?: number;
}

class NewPet {
  @IsString()
  @Length(1, 255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;
}

@Injectable()
class KeyGuard implements CanActivate {
  private readonly known = new KeyCache();

  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers } = context.switchToHttp().getRequest<{ headers: { authorization?: string } }>();
    const hash = hashOfBearer(headers.authorization);
    if (hash === undefined) throw new UnauthorizedException(UNAUTHORIZED);
    if (this.known.has(hash)) return true;
    const key = await this.keys.findOneBy({ hash: Buffer.from(hash, 'hex'), revokedAt: IsNull() });
    if (!key) throw new UnauthorizedException(UNAUTHORIZED);
    this.known.add(hash);
    return true;
  }
}

@Injectable()
class PetsService {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  async list({ limit, status, after }: ListQuery): Promise<{ pets: Pet[]; more: boolean }> {
    const where = { ...(status && { status }), ...(after !== undefined && { id: MoreThan(after) }) };
    const pets = await this.pets.find({ where, order: { id: 'ASC' }, take: limit + 1 });
    return { pets: pets.slice(0, limit), more: pets.length > limit };
  }

  async get(id: number): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) throw new NotFoundException({ code: 'pet_not_found', message: 'There is no such animal.', status: 404 });
    return pet;
  }

  create({ status = 'available', ...newPet }: NewPet): Promise<Pet> {
    return this.pets.save(this.pets.create({ ...newPet, status }));
  }
}

interface Headers {
  setHeader(name: string, value: string): void;
}

@Controller('v1/pets')
@UseGuards(KeyGuard)
class PetsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  async list(@Query() query: ListQuery, @Res({ passthrough: true }) response: Headers): Promise<Pet[]> {
    const { pets, more } = await this.pets.list(query);
    const filter = query.status ? `&status=${query.status}` : '';
    if (more) response.setHeader('Link', `</v1/pets?limit=${query.limit}${filter}&after=${pets.at(-1)?.id}>; rel="next"`);
    return pets;
  }

  @Get(':petId')
  get(@Param('petId', ParseIntPipe) petId: number): Promise<Pet> {
    return this.pets.get(petId);
  }

  @Post()
  async create(@Body() newPet: NewPet, @Res({ passthrough: true }) response: Headers): Promise<Pet> {
    const pet = await this.pets.create(newPet);
    response.setHeader('Location', `/v1/pets/${pet.id}`);
    return pet;
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'postgres', url: requiredVariable('DATABASE_URL'), parseInt8: true, entities: [Pet, ApiKey] }),
    TypeOrmModule.forFeature([Pet, ApiKey]),
  ],
  controllers: [PetsController],
  providers: [PetsService, KeyGuard],
})
class PetsModule {}

const app = await NestFactory.create<NestExpressApplication>(PetsModule, { logger: false });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
await app.listen(0, '127.0.0.1');
printPort((app.getHttpServer() as { address(): AddressInfo }).address().port);
