import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createOpenApiText } from '../openapi-text.js';
import { readConfig } from '../process/config.js';

const documentWith = async (env: Record<string, string>) =>
  JSON.parse(await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused', ...env }))) as {
    servers: object;
    components: { responses: Record<string, { headers: { Link: { example: string } } }> };
  };

describe('docs/openapi.json', () => {
  it('is up to date: `npm run openapi` writes it', async () => {
    const kept = readFileSync(join(import.meta.dirname, '../../../../docs/openapi.json'), 'utf8');
    expect(kept).toBe(await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused' })));
  });

  it('shows exact ids above 2^53', async () => {
    const text = await createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused' }));
    expect(text.match(/"example": 9007199254740993\b/g)).toHaveLength(3);
    expect(text).toContain('"example": "/v1/pets/9007199254740993"');
  });
});

describe('the servers', () => {
  it.each<[string, Record<string, string>, object[]]>([
    ['without addresses', {}, [{ url: '/v1', description: 'The server that serves this document' }]],
    [
      'with a staging address',
      { STAGING_BASE_URL: 'https://staging.test' },
      [
        { url: '/v1', description: 'The server that serves this document' },
        { url: 'https://staging.test/v1', description: 'Staging' },
      ],
    ],
    [
      'with a public address',
      { PUBLIC_BASE_URL: 'https://store.test/animals' },
      [{ url: 'https://store.test/animals/v1', description: 'Production' }],
    ],
    [
      'with both',
      { PUBLIC_BASE_URL: 'https://store.test', STAGING_BASE_URL: 'https://staging.test' },
      [
        { url: 'https://store.test/v1', description: 'Production' },
        { url: 'https://staging.test/v1', description: 'Staging' },
      ],
    ],
  ])('%s', async (_what, env, servers) => {
    expect((await documentWith(env)).servers).toEqual(servers);
  });
});

it('each error response has a link to the explanation of its code', async () => {
  const { responses } = (await documentWith({ PUBLIC_BASE_URL: 'https://store.test/animals' })).components;
  expect(Object.keys(responses)).toContain('PetNotFound');
  expect(responses['PetNotFound']?.headers.Link.example).toBe('<https://store.test/animals/docs/errors#pet_not_found>; rel="help"');
});
