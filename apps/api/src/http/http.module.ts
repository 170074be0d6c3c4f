import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PublicUrl } from '@animal-store/http-kit';
import { type BeforeApplicationShutdown, type DynamicModule, Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Draining } from './connection.js';
import type { JsonAdapter } from './json-adapter.js';
import type { HttpServer } from './http-server.js';
import { RouteTable } from './routes.js';

@Global()
@Module({})
export class HttpModule implements OnModuleDestroy, BeforeApplicationShutdown {
  private stopped: Promise<void> | undefined;

  constructor(
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost<JsonAdapter>,
    @Inject(Draining) private readonly draining: Draining,
  ) {}

  static forRoot({ publicUrl, routes, draining }: HttpServer): DynamicModule {
    return {
      module: HttpModule,
      providers: [
        { provide: PublicUrl, useValue: publicUrl },
        { provide: RouteTable, useValue: routes },
        { provide: Draining, useValue: draining },
      ],
      exports: [PublicUrl, RouteTable, Draining],
    };
  }

  /** The first step of closing, before jobs and event handlers are awaited. Responses close their connections, even if draining has not begun. */
  onModuleDestroy(): void {
    this.draining.isActive = true;
    this.stopped = stopListening(this.host.httpAdapter.getHttpServer());
  }

  /** Not in a hook of Fastify, which limits their time. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }
}

/** How long the first request of a new connection is awaited when the process stops. */
const FIRST_REQUEST_MS = 100;

/** Resolves when all connections are closed. `close` of node:http ends its time-outs, so a half-received request would stay. */
async function stopListening(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  NetServer.prototype.close.call(server, () => resolve());
  await sleep(FIRST_REQUEST_MS);
  server.closeIdleConnections();
  await promise;
}
