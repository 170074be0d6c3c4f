import { type DynamicModule, Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { type DocumentedContext, type ServerAddresses } from './openapi-document.js';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';

/** The OpenAPI document, and the pages below `/docs`. */
@Module({ controllers: [OpenApiController, DocsController] })
export class ReferenceModule {
  static forRoot(addresses: ServerAddresses, contexts: readonly DocumentedContext[]): DynamicModule {
    const document = new OpenApiDocument(addresses, contexts);
    return { module: ReferenceModule, providers: [{ provide: OpenApiDocument, useValue: document }] };
  }
}
