import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { expectError, expectStatus } from '../support/http-response.js';
import { readPet } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const LIMIT = 64 * 1024;
const VALID = '{"name":"Rex","categoryId":7}';

/** Returns a valid body of the given size. */
function bodyOf(bytes: number): string {
  const frame = '{"name":"Rex","categoryId":7,"note":""}';
  return frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
}

function inChunks(text: string, size: number): string[] {
  return text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? [];
}

describe('request body: size', () => {
  it.each([
    ['with a length', bodyOf(LIMIT)],
    ['chunked', inChunks(bodyOf(LIMIT), 8_000)],
    ['of white space', VALID.padEnd(LIMIT)],
    ['of two-byte characters', `{"name":"Rex","categoryId":7,"note":"${'é'.repeat(32_000)}"}`],
  ])('accepts 65,536 bytes %s', async (_how, body) => {
    const response = await api.create(body);
    expectStatus(response, 201);
  });

  it.each([
    ['one byte more with a length', bodyOf(LIMIT + 1)],
    ['one byte more chunked', inChunks(bodyOf(LIMIT + 1), 8_000)],
    ['one byte more of white space', VALID.padEnd(LIMIT + 1)],
    ['fewer characters but more bytes', `{"name":"Rex","categoryId":7,"note":"${'é'.repeat(40_000)}"}`],
    ['one byte more that is not JSON either', 'x'.repeat(LIMIT + 1)],
    ['256 KiB', bodyOf(4 * LIMIT)],
    ['256 KiB chunked', inChunks(bodyOf(4 * LIMIT), 8_000)],
  ])('responds with 413 to %s', async (_what, body) => {
    expectError(await api.create(body), 'payload_too_large');
  });

  it('delivers the 413 to a client that sends 8 MiB before it reads', async () => {
    const body = bodyOf(128 * LIMIT);
    for (let attempt = 0; attempt < 20; attempt++) expectError(await api.create(body), 'payload_too_large');
  });

  it('accepts a body in one-byte chunks', async () => {
    const response = await api.create(inChunks(VALID, 1));
    expect(readPet(response.text)).toMatchObject({ name: 'Rex', categoryId: 7n });
  });

  it('accepts characters split between chunks', async () => {
    const body = Buffer.from('{"name":"犬🐕é","categoryId":7}');
    const response = await api.create([...body].map((byte) => Uint8Array.of(byte)));
    expect(readPet(response.text).name).toBe('犬🐕é');
  });
});

describe('request body: content type', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('accepts %s', async (contentType) => {
    expect((await api.create(VALID, { headers: { 'content-type': contentType } })).status).toBe(201);
  });

  it.each([
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'text/plain',
    'application/merge-patch+json',
    'application/json, text/plain',
    'application/*',
    'application',
    ';',
    '',
  ])('responds with 415 to "%s"', async (contentType) => {
    expectError(await api.create(VALID, { headers: { 'content-type': contentType } }), 'unsupported_media_type');
  });

  it.each([
    ['with a length', VALID],
    ['chunked', [VALID]],
  ])('responds with 415 to a body without a content type, %s', async (_how, body) => {
    expectError(await api.send('POST', '/v1/pets', { body }), 'unsupported_media_type');
  });

  it.each([
    ['gzip', gzipSync(VALID)],
    ['deflate', deflateSync(VALID)],
    ['br', brotliCompressSync(VALID)],
    ['gzip', VALID],
    ['identity', VALID],
    ['unheard-of', VALID],
  ])('responds with 415 to Content-Encoding: %s', async (encoding, body) => {
    expectError(await api.create(body, { headers: { 'content-encoding': encoding } }), 'unsupported_media_type');
  });
});

describe('request body: missing, malformed or not an object', () => {
  it.each([
    ['no body', undefined, {}],
    ['a length of 0', '', {}],
    ['no body, as JSON', undefined, { 'content-type': 'application/json' }],
    ['a length of 0, as JSON', '', { 'content-type': 'application/json' }],
    ['no chunk, as JSON', [], { 'content-type': 'application/json' }],
  ])('responds with 400 to %s', async (_what, body, headers) => {
    expectError(
      await api.send('POST', '/v1/pets', { headers, ...(body === undefined ? {} : { body }) }),
      'invalid_request',
      'malformed_json',
    );
  });

  it.each([
    ' ',
    '{',
    '{"name":"Rex","categoryId":7',
    '{"name":"Rex","categoryId":7}{"name":"Rex","categoryId":7}',
    '{"name":"Rex","categoryId":7}\0',
    "{'name':'Rex','categoryId':7}",
    '{"name":"Rex",/* no */"categoryId":7}',
    '{"name":"Re\nx","categoryId":7}',
    '{"name":"\\u00","categoryId":7}',
    '<pet/>',
  ])('responds with malformed_json to %j', async (body) => {
    expectError(await api.create(body), 'malformed_json');
  });

  it.each(['[]', `[${VALID}]`, 'null', 'true', '7', '1e999999999', '"Rex"', JSON.stringify(VALID)])(
    'rejects %s, which is not an object',
    async (body) => {
      expectError(await api.create(body), 'invalid_request');
    },
  );

  it.each([
    ['a Latin-1 letter', [0xe9]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut-off character', [0xf0, 0x9f, 0x90]],
    ['byte 255', [0xff]],
  ])('rejects %s, which is not UTF-8, in a name and elsewhere', async (_what, bytes) => {
    const within = (before: string, after: string): Buffer => Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    expectError(await api.create(within('{"name":"Re', 'x","categoryId":7}')), 'malformed_json', 'invalid_request');
    expectError(await api.create(within('{"name":"Rex","categoryId":7,"x":"', '"}')), 'malformed_json', 'invalid_request');
    expectError(await api.create(within(VALID, '')), 'malformed_json', 'invalid_request');
  });

  it.each(['utf16le', 'latin1'] as const)('rejects %s text, which is not UTF-8', async (encoding) => {
    expectError(await api.create(Buffer.from('{"name":"Réx","categoryId":7}', encoding)), 'malformed_json', 'invalid_request');
  });

  it.each([65, 1_000, 10_000])('rejects %i levels of nesting in any member', async (depth) => {
    const values = [`${'['.repeat(depth)}${']'.repeat(depth)}`, `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`];
    for (const name of ['name', 'categoryId', 'status', 'other']) {
      for (const value of values) expectError(await api.create(`{"name":"Rex","categoryId":7,"${name}":${value}}`), 'malformed_json');
    }
  });

  it('ignores or rejects a byte order mark', async () => {
    const response = await api.create(`\ufeff${VALID}`);
    if (response.status === 201) expect(readPet(response.text).name).toBe('Rex');
    else expectError(response, 'malformed_json');
  });
});
