import { Database } from '@animal-store/database';
import { provideUseCase, PublicUrl } from '@animal-store/http-kit';
import { Clock, SystemClock } from '@animal-store/kernel';
import { PetCatalogue } from '@animal-store/pets-contract';
import { PetRepository } from '@animal-store/pets-domain';
import { petsContext } from '@animal-store/pets-http';
import { expect, it } from '@jest/globals';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';

class PlaceOrder {
  constructor(readonly pets: PetCatalogue) {}
}

/** A context that asks another one, without importing its module. */
@Module({ providers: [provideUseCase(PlaceOrder, PetCatalogue)] })
class OrdersModule {}

class Root {}

/** Creates an app as AppModule does, without a database. */
function start(...contexts: (DynamicModule | Type)[]) {
  const dataSource = new Database({ url: 'postgres://nowhere', applicationName: 'spec', poolSize: 1, persistence: [] });
  const provided = [
    { provide: DataSource, useValue: dataSource },
    { provide: PublicUrl, useValue: undefined },
    { provide: Clock, useClass: SystemClock },
  ];
  const root: DynamicModule = { module: Root, global: true, imports: contexts, providers: provided, exports: provided };
  return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}

it('a context injects the port that another context publishes, in any order of registration', async () => {
  for (const contexts of [
    [OrdersModule, petsContext.module],
    [petsContext.module, OrdersModule],
  ]) {
    const app = await start(...contexts);
    expect(app.get(PlaceOrder, { strict: false }).pets).toBe(app.get(PetRepository, { strict: false }));
    await app.close();
  }
});

it('the app does not start if no context provides the port', async () => {
  await expect(start(OrdersModule)).rejects.toThrow(/can't resolve dependencies of the PlaceOrder.*\n?.*PetCatalogue/);
});
