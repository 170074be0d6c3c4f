import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { Public, Revalidated } from '@animal-store/http-kit';
import { Controller, Get, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import type { Representation } from '../http/json-adapter.js';

const { resolve } = createRequire(import.meta.url);

/** The files that the pages load, below `#docs` in package.json. No other file is served. */
const ASSETS: readonly string[] = [
  'docs.css',
  'docs.js',
  'favicon.svg',
  'minisearch.js',
  'preferences.js',
  'reference.css',
  'reference.js',
  'search.js',
  'search-index.js',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
];

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Names of files, so short that every file system accepts them. */
const PAGE = /^[a-z0-9-]{1,100}$/;
const HOME = 'index';
const REFERENCE = 'reference';

const policy = (more: string): string =>
  `default-src 'none'; script-src 'self'; ${more}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const CONTENT_SECURITY_POLICY = policy("style-src 'self'; img-src 'self'");
// Swagger UI sets style attributes, draws its icons from data URLs, and sends requests to the service.
const REFERENCE_POLICY = policy("style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'");

/** Serves the guides, which `write-guides.ts` renders, and the reference, which is Swagger UI in the same design. */
@ApiExcludeController()
@Controller({ path: 'docs', version: VERSION_NEUTRAL })
@Public()
export class DocsController {
  /** Files by path, each read once. A failed read is repeated by the next request. */
  private readonly files = new Map<string, Promise<Representation<Buffer>>>();

  @Get()
  @Revalidated()
  async home(@Res() reply: FastifyReply): Promise<void> {
    await this.sendPage(HOME, reply);
  }

  @Get(':page')
  @Revalidated()
  async page(@Param('page') page: string, @Res() reply: FastifyReply): Promise<void> {
    if (page === HOME) throw new HttpError(HTTP_ERRORS.routeNotFound);
    await this.sendPage(page, reply);
  }

  @Get('assets/:file')
  @Revalidated()
  async asset(@Param('file') file: string, @Res() reply: FastifyReply): Promise<void> {
    if (!ASSETS.includes(file)) throw new HttpError(HTTP_ERRORS.routeNotFound);
    await this.send(resolve(`#docs/${file}`), reply, CONTENT_SECURITY_POLICY);
  }

  private async sendPage(name: string, reply: FastifyReply): Promise<void> {
    if (!PAGE.test(name)) throw new HttpError(HTTP_ERRORS.routeNotFound);
    const path = join(dirname(resolve(`#guides/${HOME}.html`)), `${name}.html`);
    await this.send(path, reply, name === REFERENCE ? REFERENCE_POLICY : CONTENT_SECURITY_POLICY);
  }

  private async send(path: string, reply: FastifyReply, contentSecurityPolicy: string): Promise<void> {
    let file = this.files.get(path);
    if (!file) {
      file = read(path);
      this.files.set(path, file);
      file.catch(() => this.files.delete(path));
    }
    const representation = await file;
    reply.representation = representation;
    await reply
      .header('content-type', TYPES[extname(path)])
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(representation.content);
  }
}

async function read(path: string): Promise<Representation<Buffer>> {
  try {
    return { content: await readFile(path) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new HttpError(HTTP_ERRORS.routeNotFound);
    throw error;
  }
}
