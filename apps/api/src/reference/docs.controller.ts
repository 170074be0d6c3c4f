import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Public, PublicUrl, Revalidated } from '@animal-store/http-kit';
import { Controller, Get, Param, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { HTTP_ERRORS, HttpError } from '../errors/http-errors.js';
import type { Representation } from '../http/json-adapter.js';
import { acceptedEncoding, type Encoding, ENCODINGS } from './accepted-encoding.js';

const { resolve } = createRequire(import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Names of files, so short that every file system accepts them. */
const PAGE = /^[a-z0-9-]{1,100}$/;
const ASSET = /^[a-z0-9][a-z0-9.-]{0,100}\.(?:css|js|png|svg)$/;
const HOME = 'index';
const REFERENCE = 'reference';
const NOT_FOUND = 'not-found';
/** Stands for the absolute path of /docs in the page for unknown paths, which may be any number of folders deep. */
const DOCS_PATH = '{docs}';

const policy = (more: string): string =>
  `default-src 'none'; script-src 'self'; ${more}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
const CONTENT_SECURITY_POLICY = policy("style-src 'self'; img-src 'self'");
// Swagger UI sets style attributes, draws its icons from data URLs, and sends requests to the service.
const REFERENCE_POLICY = policy("style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'");

/** The content of a file, unchanged and compressed. Images are not compressed. */
type File = { readonly identity: Representation<Buffer> } & Partial<Readonly<Record<Encoding, Representation<Buffer>>>>;

/** Serves the pages, which `write-guides.ts` renders and compresses, and the reference, which is Swagger UI in the same design. */
@ApiExcludeController()
@Controller({ version: VERSION_NEUTRAL })
@Public()
export class DocsController {
  /** Files by name, each read once. A failed read is repeated by the next request. */
  private readonly files = new Map<string, Promise<File | undefined>>();

  constructor(private readonly publicUrl: PublicUrl) {}

  @Get()
  async root(@Res() reply: FastifyReply): Promise<void> {
    await this.redirect('/docs', reply);
  }

  @Get('docs')
  @Revalidated()
  async home(@Res() reply: FastifyReply): Promise<void> {
    await this.sendPage(HOME, reply);
  }

  /** Sends a page. Redirects from its name in another case or with a slash at the end. */
  @Get('docs/*')
  @Revalidated()
  async page(@Param('*') path: string, @Res() reply: FastifyReply): Promise<void> {
    if (path === '') return this.redirect('/docs', reply);
    const name = path.toLowerCase().replace(/\/$/, '');
    if (!PAGE.test(name) || name === HOME || name === NOT_FOUND || !(await this.file(`${name}.html`))) return this.sendNotFound(reply);
    return name === path ? this.sendPage(name, reply) : this.redirect(`/docs/${name}`, reply);
  }

  @Get('docs/assets/:file')
  @Revalidated()
  async asset(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const file = ASSET.test(name) ? await this.file(name) : undefined;
    if (!file) throw new HttpError(HTTP_ERRORS.routeNotFound);
    await send(reply, file, extname(name));
  }

  private async sendPage(name: string, reply: FastifyReply): Promise<void> {
    const file = await this.file(`${name}.html`);
    if (!file) throw new Error(`There is no page ${name}. Run the target guides`);
    await send(reply, file, '.html', name === REFERENCE ? REFERENCE_POLICY : CONTENT_SECURITY_POLICY);
  }

  private async sendNotFound(reply: FastifyReply): Promise<void> {
    reply.request.errorCode = HTTP_ERRORS.routeNotFound.code;
    reply.code(404).header('cache-control', 'no-store');
    await this.sendPage(NOT_FOUND, reply);
  }

  private async redirect(path: string, reply: FastifyReply): Promise<void> {
    await reply.header('cache-control', 'no-cache').redirect(this.publicUrl.of(path), 302);
  }

  /** Returns undefined if there is no such file. */
  private file(name: string): Promise<File | undefined> {
    let file = this.files.get(name);
    if (!file) {
      file = name === `${NOT_FOUND}.html` ? this.readNotFound(name) : readFiles(name);
      this.files.set(name, file);
      // Only files that exist stay in memory.
      void file.catch(() => undefined).then((found) => found ?? this.files.delete(name));
    }
    return file;
  }

  private async readNotFound(name: string): Promise<File | undefined> {
    const page = await read(name);
    const { pathname } = new URL(this.publicUrl.of('/docs'), 'http://localhost');
    const content = Buffer.from(String(page).replaceAll(DOCS_PATH, pathname));
    return page && { identity: { content }, br: { content: brotliCompressSync(content) }, gzip: { content: gzipSync(content) } };
  }
}

async function send(reply: FastifyReply, file: File, suffix: string, contentSecurityPolicy = CONTENT_SECURITY_POLICY): Promise<void> {
  const accepted = file.br && acceptedEncoding(reply.request.headers['accept-encoding']);
  const compressed = accepted && file[accepted];
  const representation = compressed ?? file.identity;
  reply.representation = representation;
  if (file.br) reply.header('vary', [reply.getHeader('vary') ?? [], 'Accept-Encoding'].flat().join(', '));
  if (compressed) reply.header('content-encoding', accepted);
  await reply
    .header('content-type', TYPES[suffix])
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .send(representation.content);
}

async function readFiles(name: string): Promise<File | undefined> {
  const identity = await read(name);
  if (!identity) return undefined;
  const [br, gzip] = await Promise.all([read(name + ENCODINGS.br), read(name + ENCODINGS.gzip)]);
  return { identity: { content: identity }, ...(br && { br: { content: br } }), ...(gzip && { gzip: { content: gzip } }) };
}

/** Resolved once, on first use, because that takes 0.1 ms. */
let folder: string | undefined;

async function read(name: string): Promise<Buffer | undefined> {
  try {
    folder ??= dirname(resolve(`#guides/${HOME}.html`));
    return await readFile(join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
