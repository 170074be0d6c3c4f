import * as fs from 'node:fs/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { PublicUrl } from '@animal-store/http-kit';
import { describe, expect, it, jest } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { HTTP_ERRORS } from '../errors/http-errors.js';
import type { Representation } from '../http/json-adapter.js';

const readFile = jest.fn(fs.readFile);
jest.unstable_mockModule('node:fs/promises', () => ({ ...fs, readFile }));
const { DocsController } = await import('./docs.controller.js');

const SAME_ORIGIN =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** What Swagger UI needs in addition. */
const SWAGGER_UI =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HTML = 'text/html; charset=utf-8';
const docs = new DocsController(new PublicUrl('https://store.test/base'));

interface Sent {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly representation: Representation | undefined;
}

/** Returns what a handler sends. */
async function sent(handle: (reply: FastifyReply) => Promise<void>, acceptEncoding?: string): Promise<Sent> {
  const headers: Record<string, string> = {};
  const bodies: Buffer[] = [];
  let status = 200;
  const reply = {
    request: { headers: { 'accept-encoding': acceptEncoding } },
    code: (code: number) => ((status = code), reply),
    getHeader: (name: string) => headers[name],
    header: (name: string, value: string) => ((headers[name] = value), reply),
    redirect: (location: string, code: number) => ((status = code), (headers['location'] = location)),
    send: (body: Buffer) => void bodies.push(body),
  } as unknown as FastifyReply;
  await handle(reply);
  expect(bodies).toEqual(status === 302 ? [] : [reply.representation?.content]);
  return { status, headers, text: decoded(bodies[0], headers['content-encoding']), representation: reply.representation };
}

function decoded(body: Uint8Array = Buffer.alloc(0), encoding?: string): string {
  return String(encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : Buffer.from(body));
}

const headersOf = (type: string, contentSecurityPolicy = SAME_ORIGIN) => ({
  vary: 'Accept-Encoding',
  'content-type': type,
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
});
const asset = (file: string, acceptEncoding?: string) => sent((reply) => docs.asset(file, reply), acceptEncoding);
const page = (name: string, acceptEncoding?: string) => sent((reply) => docs.page(name, reply), acceptEncoding);

describe('an asset', () => {
  it.each([
    ['docs.css', 'text/css; charset=utf-8'],
    ['docs.js', 'text/javascript; charset=utf-8'],
    ['favicon.svg', 'image/svg+xml'],
  ])('is sent with its type, and sends no referrers: %s', async (file, type) => {
    const { headers, text, representation } = await asset(file);
    expect(headers).toEqual(headersOf(type));
    expect(text).not.toBe('');
    // The ETag is computed once.
    expect((await asset(file)).representation).toBe(representation);
  });

  it.each(['docs', 'swagger-ui.js', 'docs.css.br', 'errors.html', '__proto__', 'constructor', '../docs.css', ''])(
    'does not exist: %j',
    async (file) => {
      await expect(asset(file)).rejects.toThrow(HTTP_ERRORS.routeNotFound.message);
    },
  );
});

describe('a page', () => {
  it('is a guide, which loads resources of the service only', async () => {
    const [guide, home] = [await page('errors'), await sent((reply) => docs.home(reply))];
    expect([guide.headers, home.headers]).toEqual([headersOf(HTML), headersOf(HTML)]);
    expect(guide.text).toContain('pet_not_found');
    expect(home.text).not.toBe(guide.text);
    expect((await page('errors')).representation).toBe(guide.representation);
  });

  it('is the reference, with what Swagger UI needs', async () => {
    expect((await page('reference')).headers).toEqual(headersOf(HTML, SWAGGER_UI));
  });

  it.each(['Quickstart', 'quickstart/', 'QuickStart/'])('has one address: %s is redirected', async (name) => {
    const location = 'https://store.test/base/docs/quickstart';
    expect(await page(name)).toMatchObject({ status: 302, headers: { location, 'cache-control': 'no-cache' } });
  });

  it.each(['index', 'not-found', 'search-index', 'search-index.js', 'unknown', 'Unknown/', 'errors.html', '../errors', 'a/b', '__proto__'])(
    'does not exist: %s',
    async (name) => {
      const { status, headers, text } = await page(name);
      expect([status, headers]).toEqual([404, { ...headersOf(HTML), 'cache-control': 'no-store' }]);
      expect(text).toContain('<h1>Page not found</h1>');
      // Its links do not depend on the path.
      expect(text).toContain('<a href="/base/docs/quickstart">');
      expect(text).not.toContain('{docs}');
    },
  );
});

it('/ and /docs/ are redirected to /docs', async () => {
  const expected = { status: 302, headers: { location: 'https://store.test/base/docs' } };
  expect(await sent((reply) => docs.root(reply))).toMatchObject(expected);
  expect(await page('')).toMatchObject(expected);
});

it.each(['br', 'gzip'])('texts are compressed with %s, each with its own representation', async (encoding) => {
  for (const send of [
    (field?: string) => asset('docs.css', field),
    (field?: string) => page('errors', field),
    (field?: string) => page('none', field),
  ]) {
    const [compressed, unchanged] = [await send(encoding), await send()];
    expect(compressed.headers).toEqual({ ...unchanged.headers, 'content-encoding': encoding });
    expect(compressed.text).toBe(unchanged.text);
    expect(compressed.representation).not.toBe(unchanged.representation);
    expect(compressed.representation?.content.length).toBeLessThan(unchanged.text.length / 2);
  }
});

it('a page or an asset is read again after a failed read', async () => {
  const fresh = new DocsController(new PublicUrl());
  for (const handle of [(reply: FastifyReply) => fresh.page('errors', reply), (reply: FastifyReply) => fresh.asset('docs.css', reply)]) {
    readFile.mockRejectedValueOnce(new Error('EMFILE'));
    await expect(sent(handle)).rejects.toThrow('EMFILE');
    expect((await sent(handle)).text).not.toBe('');
  }
});
