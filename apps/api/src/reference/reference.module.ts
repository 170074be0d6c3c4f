import type { Context } from '@animal-store/http-kit';
import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { OpenApiDocument, type ServerAddresses } from './openapi-document.js';

/** The OpenAPI document, and the pages below `/docs`. */
@Module({ controllers: [DocsController] })
export class ReferenceModule {
  static forRoot(addresses: ServerAddresses, contexts: readonly Context[]): DynamicModule {
    const document = new OpenApiDocument(addresses, contexts);
    return { module: ReferenceModule, providers: [{ provide: OpenApiDocument, useValue: document }] };
  }
}
