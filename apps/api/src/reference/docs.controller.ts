import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Public, Revalidated } from '@animal-store/http-contract';
import { Controller, Get, NotFoundException, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Representation } from '../server/json-adapter.js';

const { resolve } = createRequire(import.meta.url);

/** Everything the page loads, by its name below `#docs` in package.json: nothing else is served, and nothing comes from elsewhere. */
const ASSETS: Readonly<Record<string, string>> = {
  'docs.css': 'text/css; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

// Swagger UI sets style attributes and draws its icons from data URLs.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The reference page: Swagger UI in the look of the store, all files local. */
@ApiExcludeController()
@Controller({ path: 'docs', version: VERSION_NEUTRAL })
@Public()
export class DocsController {
  /** Each file is read once. */
  private readonly files = new Map<string, Promise<Representation<Buffer>>>();

  @Get()
  @Revalidated()
  async page(@Res() reply: FastifyReply): Promise<void> {
    await this.send(reply, 'index.html', 'text/html; charset=utf-8');
  }

  @Get('assets/:file')
  @Revalidated()
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    const type = Object.hasOwn(ASSETS, file) ? ASSETS[file] : undefined;
    if (!type) throw new NotFoundException();
    await this.send(reply, file, type);
  }

  private async send(reply: FastifyReply, file: string, type: string): Promise<void> {
    const representation = await this.read(file);
    reply.representation = representation;
    await reply
      .header('Content-Type', type)
      .header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
      .header('Referrer-Policy', 'no-referrer')
      .send(representation.content);
  }

  private read(file: string): Promise<Representation<Buffer>> {
    let read = this.files.get(file);
    if (!read) {
      read = readFile(resolve(`#docs/${file}`)).then((content) => ({ content }));
      this.files.set(file, read);
    }
    return read;
  }
}
