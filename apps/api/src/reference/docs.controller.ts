import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PublicUrl, Revalidated } from '@animal-store/http-kit';
import type { JsonText } from '@animal-store/kernel';
import { Controller, Get, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Operational } from '../authentication/guards.js';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import { OpenApiDocument } from './openapi-document.js';

const { resolve } = createRequire(import.meta.url);

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const PAGE = { path: '#assets/docs.html', type: 'text/html; charset=utf-8' };
const ASSETS = new Map([
  ['docs.js', { path: '#assets/docs.js', type: JAVASCRIPT }],
  ['swagger-ui.css', { path: 'swagger-ui-dist/swagger-ui.css', type: 'text/css; charset=utf-8' }],
  ['swagger-ui-bundle.js', { path: 'swagger-ui-dist/swagger-ui-bundle.js', type: JAVASCRIPT }],
]);

// Swagger UI sets style attributes, draws its icons from data URLs, and sends requests to the service.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the OpenAPI document, and Swagger UI at `/docs`, with files of this service only. */
@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
@Operational()
export class DocsController {
  /** Each file is read once. */
  private readonly contents = new Map<string, Buffer>();

  constructor(
    private readonly publicUrl: PublicUrl,
    private readonly document: OpenApiDocument,
  ) {}

  @Get('openapi.json')
  @Revalidated()
  openApi(): JsonText<OpenAPIObject> {
    return this.document.text;
  }

  @Get()
  async root(@Res() reply: FastifyReply): Promise<void> {
    await reply.header('cache-control', 'no-cache').redirect(this.publicUrl.of('/docs'), 302);
  }

  @Get('docs')
  page(@Res() reply: FastifyReply): Promise<void> {
    return this.send(PAGE, reply);
  }

  @Get('docs/:file')
  asset(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = ASSETS.get(name);
    if (!asset) throw new HttpError(HTTP_ERRORS.routeNotFound);
    return this.send(asset, reply);
  }

  private async send({ path, type }: typeof PAGE, reply: FastifyReply): Promise<void> {
    const content = this.contents.get(path) ?? (await readFile(resolve(path)));
    this.contents.set(path, content);
    await reply
      .headers({ 'content-type': type, 'cache-control': 'max-age=3600', 'content-security-policy': CONTENT_SECURITY_POLICY })
      .header('referrer-policy', 'no-referrer')
      .send(content);
  }
}
