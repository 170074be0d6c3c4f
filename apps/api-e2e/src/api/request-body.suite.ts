import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { expectError, expectStatus } from '../support/http-response.js';
import { NEW_PET } from '../support/json.js';
import { useApi } from '../support/use-api.js';

const api = useApi();
const LIMIT = 64 * 1024;

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
    ['of two-byte characters', `{"name":"Rex","categoryId":7,"note":"${'é'.repeat(32_000)}"}`],
  ])('accepts 65,536 bytes %s', async (_how, body) => {
    const response = await api.create(body);
    expectStatus(response, 201);
  });

  it.each([
    ['one byte more with a length', bodyOf(LIMIT + 1)],
    ['one byte more chunked', inChunks(bodyOf(LIMIT + 1), 8_000)],
    ['fewer characters but more bytes', `{"name":"Rex","categoryId":7,"note":"${'é'.repeat(40_000)}"}`],
    ['one byte more that is not JSON either', 'x'.repeat(LIMIT + 1)],
  ])('responds with 413 to %s', async (_what, body) => {
    expectError(await api.create(body), 'payload_too_large');
  });

  it('delivers the 413 to a client that sends 8 MiB before it reads', async () => {
    const body = bodyOf(128 * LIMIT);
    for (let attempt = 0; attempt < 5; attempt++) expectError(await api.create(body), 'payload_too_large');
  });
});

describe('request body: content type', () => {
  it.each(['Application/JSON', 'application/json ; charset="utf-8"'])('accepts %s', async (contentType) => {
    expect((await api.create(NEW_PET, { headers: { 'content-type': contentType } })).status).toBe(201);
  });

  it.each(['application/json; charset=iso-8859-1', 'text/plain', 'application/merge-patch+json', ';', ''])(
    'responds with 415 to "%s"',
    async (contentType) => {
      expectError(await api.create(NEW_PET, { headers: { 'content-type': contentType } }), 'unsupported_media_type');
    },
  );

  it.each([
    ['with a length', NEW_PET],
    ['chunked', [NEW_PET]],
  ])('responds with 415 to a body without a content type, %s', async (_how, body) => {
    expectError(await api.send('POST', '/v1/pets', { body }), 'unsupported_media_type');
  });

  it.each([
    ['gzip', gzipSync(NEW_PET)],
    ['identity', NEW_PET],
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

  it.each([' ', '{', `${NEW_PET}${NEW_PET}`, `${NEW_PET}\0`])('responds with malformed_json to %j', async (body) => {
    expectError(await api.create(body), 'malformed_json');
  });

  it.each(['[]', 'null', '7', '"Rex"'])('rejects %s, which is not an object', async (body) => {
    expectError(await api.create(body), 'invalid_request');
  });

  it('rejects bytes that are not UTF-8, in a member and after the object', async () => {
    for (const text of ['{"name":"Réx","categoryId":7}', '{"name":"Rex","categoryId":7,"x":"é"}', `${NEW_PET}é`]) {
      expectError(await api.create(Buffer.from(text, 'latin1')), 'malformed_json');
    }
  });

  it('rejects 65 levels of nesting in any member', async () => {
    for (const name of ['name', 'categoryId', 'status', 'other']) {
      expectError(await api.create(`{"name":"Rex","categoryId":7,"${name}":${'['.repeat(65)}${']'.repeat(65)}}`), 'malformed_json');
    }
  });
});
