import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Public } from '@animal-store/http-contract';
import { Controller, Get, NotFoundException, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';

const { resolve } = createRequire(import.meta.url);
// By its name in package.json, since the file that runs is here or in the bundle.
const OURS = dirname(resolve('#docs/index.html'));
const SWAGGER_UI = dirname(resolve('swagger-ui-dist/package.json'));

/** Everything the page loads: nothing else is served, and nothing comes from elsewhere. */
const ASSETS: Readonly<Record<string, { folder: string; type: string }>> = {
  'docs.css': { folder: OURS, type: 'text/css; charset=utf-8' },
  'docs.js': { folder: OURS, type: 'text/javascript; charset=utf-8' },
  'favicon.svg': { folder: OURS, type: 'image/svg+xml' },
  'swagger-ui.css': { folder: SWAGGER_UI, type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { folder: SWAGGER_UI, type: 'text/javascript; charset=utf-8' },
};

// Swagger UI sets style attributes and draws its icons from data URLs.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The reference page: Swagger UI in the look of the store, all files local. */
@ApiExcludeController()
@Controller({ path: 'docs', version: VERSION_NEUTRAL })
@Public()
export class DocsController {
  @Get()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, join(OURS, 'index.html'), 'text/html; charset=utf-8');
  }

  @Get('assets/:file')
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const asset = Object.hasOwn(ASSETS, file) ? ASSETS[file] : undefined;
    if (!asset) throw new NotFoundException();
    await this.send(reply, join(asset.folder, file), asset.type);
  }

  private async send(reply: FastifyReply, path: string, type: string): Promise<void> {
    await reply
      .header('Content-Type', type)
      .header('Cache-Control', 'no-cache')
      .header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
      .header('Referrer-Policy', 'no-referrer')
      .send(await readFile(path));
  }
}
