import { Public, Revalidated } from '@animal-store/http-contract';
import { JsonText } from '@animal-store/kernel';
import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';

/** Creates the document on first use, because that takes longer than the rest of the start. */
export class OpenApiDocument {
  private document: OpenAPIObject | undefined;
  private json: JsonText<OpenAPIObject> | undefined;

  constructor(private readonly create: () => OpenAPIObject) {}

  get value(): OpenAPIObject {
    return (this.document ??= this.create());
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
