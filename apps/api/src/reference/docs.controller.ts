import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Public, Revalidated } from '@animal-store/http-contract';
import { Controller, Get, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import type { Representation } from '../http/json-adapter.js';

const { resolve } = createRequire(import.meta.url);

/** Content types of all files that the pages load, by their names below `#docs` in package.json. No other file is served. */
const ASSETS: Readonly<Record<string, string>> = {
  'docs.css': 'text/css; charset=utf-8',
  'docs.js': 'text/javascript; charset=utf-8',
  'favicon.svg': 'image/svg+xml',
  'minisearch.js': 'text/javascript; charset=utf-8',
  'preferences.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'search.js': 'text/javascript; charset=utf-8',
  'search-index.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

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
  /** All pages, read once. As with assets, a failed read is repeated by the next request. */
  private pages: Promise<ReadonlyMap<string, Representation<Buffer>>> | undefined;
  /** Assets by file name, each read once. */
  private readonly assets = new Map<string, Promise<Representation<Buffer>>>();

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
    const type = Object.hasOwn(ASSETS, file) ? ASSETS[file] : undefined;
    if (!type) throw new HttpError(HTTP_ERRORS.routeNotFound);
    let asset = this.assets.get(file);
    if (!asset) {
      asset = readFile(resolve(`#docs/${file}`)).then((content) => ({ content }));
      this.assets.set(file, asset);
      asset.catch(() => this.assets.delete(file));
    }
    await send(reply, await asset, type, CONTENT_SECURITY_POLICY);
  }

  private async sendPage(name: string, reply: FastifyReply): Promise<void> {
    this.pages ??= readPages().catch((error: unknown) => {
      this.pages = undefined;
      throw error;
    });
    const page = (await this.pages).get(name);
    if (!page) throw new HttpError(HTTP_ERRORS.routeNotFound);
    await send(reply, page, 'text/html; charset=utf-8', name === REFERENCE ? REFERENCE_POLICY : CONTENT_SECURITY_POLICY);
  }
}

/** Returns all pages by name. */
async function readPages(): Promise<ReadonlyMap<string, Representation<Buffer>>> {
  const folder = dirname(resolve(`#guides/${HOME}.html`));
  const files = (await readdir(folder)).filter((file) => file.endsWith('.html'));
  return new Map(
    await Promise.all(files.map(async (file) => [basename(file, '.html'), { content: await readFile(join(folder, file)) }] as const)),
  );
}

async function send(
  reply: FastifyReply,
  representation: Representation<Buffer>,
  type: string,
  contentSecurityPolicy: string,
): Promise<void> {
  reply.representation = representation;
  await reply
    .header('content-type', type)
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .send(representation.content);
}
