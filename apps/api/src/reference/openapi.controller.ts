import { Public } from '@animal-store/http-contract';
import { Controller, Get, Header, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';

/** Made at the first request: the document costs more than the rest of the start. */
export class OpenApiDocument {
  private document: OpenAPIObject | undefined;

  constructor(private readonly create: () => OpenAPIObject) {}

  get value(): OpenAPIObject {
    return (this.document ??= this.create());
  }
}

@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
@Public()
export class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Get('openapi.json')
  @Header('Cache-Control', 'no-cache')
  openApi(): OpenAPIObject {
    return this.document.value;
  }
}
