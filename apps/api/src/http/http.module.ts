import { PublicUrl } from '@animal-store/http-kit';
import { type BeforeApplicationShutdown, type DynamicModule, Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Routes } from '../errors/exception.filter.js';
import { Draining, stopListening } from './connection.js';
import type { JsonAdapter } from './json-adapter.js';
import type { HttpServer } from './http-server.js';
import { RouteTable } from './routes.js';

/** What providers know of the HTTP server. */
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
        { provide: Routes, useExisting: RouteTable },
        { provide: Draining, useValue: draining },
      ],
      exports: [PublicUrl, RouteTable, Routes, Draining],
    };
  }

  /** The first step of closing, before jobs and event handlers are awaited. Responses close their connections, even if draining has not begun. */
  onModuleDestroy(): void {
    this.draining.begin();
    this.stopped = stopListening(this.host.httpAdapter.getHttpServer());
  }

  /** Not in a hook of Fastify, which limits their time. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }
}
