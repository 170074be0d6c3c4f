import { PublicUrl } from '@animal-store/http-contract';
import { type BeforeApplicationShutdown, type DynamicModule, Global, Inject, Module, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Routes } from '../errors/exception.filter.js';
import type { Observability } from '../observability/observability.module.js';
import { ShedRequests } from '../observability/shed-requests.js';
import { DeprecationGuard } from './deprecation.js';
import { Draining, stopListening } from './draining.js';
import { PreconditionGuard } from './entity-tags.js';
import { createHttpServer } from './http-server.js';
import type { JsonAdapter } from './json-adapter.js';
import { type HttpOptions, registerPipeline } from './pipeline.js';
import { RouteTable } from './route-table.js';

/** Fastify with its hooks. Created before the container, because the hooks that Nest's adapter adds must run after these. */
export class HttpServer {
  readonly publicUrl: PublicUrl;
  readonly routes = new RouteTable();
  readonly draining = new Draining();
  readonly fastify: FastifyInstance;

  constructor(options: HttpOptions, observability: Observability) {
    const { routes, draining } = this;
    const publicUrl = new PublicUrl(options.publicBaseUrl);
    const shed = new ShedRequests(observability.metrics, observability.logger);
    this.publicUrl = publicUrl;
    this.fastify = createHttpServer({ ...options, publicUrl, shed });
    registerPipeline(this.fastify, { ...observability, options, publicUrl, routes, draining, shed });
  }
}

/** What providers know of the HTTP server, and the guards of its headers. */
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
        DeprecationGuard,
        PreconditionGuard,
      ],
      exports: [PublicUrl, RouteTable, Routes, Draining, DeprecationGuard, PreconditionGuard],
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
