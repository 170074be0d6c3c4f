import * as fs from 'node:fs/promises';
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
const docs = new DocsController();

interface Sent {
  readonly headers: Record<string, string>;
  readonly text: string;
  readonly representation: Representation | undefined;
}

/** Returns what a handler sends. */
async function sent(handle: (reply: FastifyReply) => Promise<void>): Promise<Sent> {
  const headers: Record<string, string> = {};
  const bodies: Buffer[] = [];
  const reply = {
    header: (name: string, value: string) => ((headers[name] = value), reply),
    send: (body: Buffer) => void bodies.push(body),
  } as unknown as FastifyReply;
  await handle(reply);
  expect(bodies).toEqual([reply.representation?.content]);
  return { headers, text: String(bodies[0]), representation: reply.representation };
}

const headersOf = (type: string, contentSecurityPolicy = SAME_ORIGIN) => ({
  'content-type': type,
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
});
const asset = (file: string) => sent((reply) => docs.asset(file, reply));
const page = (name: string) => sent((reply) => docs.page(name, reply));

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

  it.each(['docs', 'swagger-ui.js', '__proto__', 'constructor', '../docs.css', ''])('does not exist: %j', async (file) => {
    await expect(asset(file)).rejects.toThrow(HTTP_ERRORS.routeNotFound.message);
  });
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

  it.each(['index', 'search-index', 'search-index.js', 'unknown', 'errors.html', '../errors', '__proto__'])(
    'does not exist: %s',
    async (name) => {
      await expect(page(name)).rejects.toThrow(HTTP_ERRORS.routeNotFound.message);
    },
  );
});

it('a page or an asset is read again after a failed read', async () => {
  const fresh = new DocsController();
  for (const handle of [(reply: FastifyReply) => fresh.page('errors', reply), (reply: FastifyReply) => fresh.asset('docs.css', reply)]) {
    readFile.mockRejectedValueOnce(new Error('EMFILE'));
    await expect(sent(handle)).rejects.toThrow('EMFILE');
    expect((await sent(handle)).text).not.toBe('');
  }
});
