import { type Context, Revalidated } from '@animal-store/http-kit';
import { JsonText } from '@animal-store/kernel';
import { Controller, type DynamicModule, Get, type INestApplication, Module, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import { Operational } from '../authentication/guards.js';
import { DocsController } from './docs.controller.js';
import { createOpenApiDocument, type ServerAddresses } from './openapi-document.js';

export class OpenApiDocument {
  /** Set before the first use. */
  app!: INestApplication;
  private json: JsonText<OpenAPIObject> | undefined;

  constructor(
    private readonly addresses: ServerAddresses,
    private readonly contexts: readonly Context[],
  ) {}

  create(): OpenAPIObject {
    return createOpenApiDocument(this.app, this.addresses, this.contexts);
  }

  /** Created on first use, because that takes longer than the rest of the start. */
  get text(): JsonText<OpenAPIObject> {
    return (this.json ??= JsonText.of(this.create()));
  }
}

@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
@Operational()
class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('openapi.json')
  @Revalidated()
  openApi(): JsonText<OpenAPIObject> {
    return this.document.text;
  }
}

/** The OpenAPI document, and the pages below `/docs`. */
@Module({ controllers: [OpenApiController, DocsController] })
export class ReferenceModule {
  static forRoot(addresses: ServerAddresses, contexts: readonly Context[]): DynamicModule {
    const document = new OpenApiDocument(addresses, contexts);
    return { module: ReferenceModule, providers: [{ provide: OpenApiDocument, useValue: document }] };
  }
}
