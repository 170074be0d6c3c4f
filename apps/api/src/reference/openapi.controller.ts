import { Public, Revalidated } from '@animal-store/http-kit';
import { JsonText } from '@animal-store/kernel';
import { Controller, Get, type INestApplication, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import { createOpenApiDocument, type DocumentedContext, type ServerAddresses } from './openapi-document.js';

/** Creates the document on first use, because that takes longer than the rest of the start. */
export class OpenApiDocument {
  private app: INestApplication | undefined;
  private document: OpenAPIObject | undefined;
  private json: JsonText<OpenAPIObject> | undefined;

  constructor(
    private readonly addresses: ServerAddresses,
    private readonly contexts: readonly DocumentedContext[],
  ) {}

  /** Call once, before the first use. */
  describe(app: INestApplication): void {
    this.app = app;
  }

  get value(): OpenAPIObject {
    if (!this.app) throw new Error('There is no app to describe.');
    return (this.document ??= createOpenApiDocument(this.app, this.addresses, this.contexts));
  }

  get text(): JsonText<OpenAPIObject> {
    return (this.json ??= JsonText.of(this.value));
  }
}

@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
@Public()
export class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('openapi.json')
  @Revalidated()
  openApi(): JsonText<OpenAPIObject> {
    return this.document.text;
  }
}
