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
import { hashOfBearer, UNAUTHORIZED } from './api-key.js';
import { JSON_TYPE, readConstantResponses } from './constant-responses.js';
import { printPort } from './peer-process.js';

// Upper bound for NestJS: routing, and a guard that hashes the key and looks it up, without pipes or a database.
const { list, get, create, keyHashes } = readConstantResponses();
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
