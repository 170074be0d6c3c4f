import 'reflect-metadata';
import { AuthenticateApiKey } from '@animal-store/access-application';
import { accessPersistence } from '@animal-store/access-infrastructure';
import { createDataSource } from '@animal-store/database';
import { Clock, SystemClock } from '@animal-store/kernel';
import { expect, it } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AccessModule } from './access.module.js';

const dataSource = createDataSource({ url: 'postgres://unused', applicationName: '', poolSize: 1, persistence: [accessPersistence] });

@Global()
@Module({
  providers: [
    { provide: DataSource, useValue: dataSource },
    { provide: Clock, useClass: SystemClock },
  ],
  exports: [DataSource, Clock],
})
class Platform {}

/** A context that authenticates clients. */
@Module({ imports: [AccessModule], providers: [{ provide: 'client', inject: [AuthenticateApiKey], useFactory: (use: unknown) => use }] })
class Context {}

@Module({ imports: [Platform, Context] })
class App {}

it('provides the use case to the modules that import it, and the entities of its tables', async () => {
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  expect(app.get('client', { strict: false })).toBeInstanceOf(AuthenticateApiKey);
  expect(AccessModule.persistence).toBe(accessPersistence);
  await app.close();
});
