import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  Injectable,
  Module,
  Post,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { constantResponses } from '../targets.js';
import { hashOfBearer, printPort, requiredVariable, UNAUTHORIZED } from './peer.js';

const JSON_TYPE = 'application/json; charset=utf-8';

// Upper bound for NestJS: routing, and a guard that hashes the key and looks it up, without pipes or a database.
const responses = requiredVariable('CONSTANT_RESPONSES');
const { list, get, create, keyHashes } = JSON.parse(responses) as Awaited<ReturnType<typeof constantResponses>>;
const keys = new Map(keyHashes.map((hash, client) => [hash, client]));

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const hash = hashOfBearer(context.switchToHttp().getRequest<FastifyRequest>().headers.authorization);
    if (hash === undefined || !keys.has(hash)) throw new UnauthorizedException(UNAUTHORIZED);
    return true;
  }
}

@Controller('v1/pets')
@UseGuards(KeyGuard)
class ConstantController {
  @Get()
  @Header('content-type', JSON_TYPE)
  list(): string {
    return list;
  }

  @Get(':petId')
  @Header('content-type', JSON_TYPE)
  get(): string {
    return get;
  }

  @Post()
  @Header('content-type', JSON_TYPE)
  create(): string {
    return create;
  }
}

@Module({ controllers: [ConstantController], providers: [KeyGuard] })
class ConstantModule {}

const app = await NestFactory.create<NestFastifyApplication>(ConstantModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
printPort((app.getHttpServer().address() as AddressInfo).port);
