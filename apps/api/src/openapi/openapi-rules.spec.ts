import { describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { readConfig } from '../configuration/config.js';
import { createOpenApiText } from './openapi-text.js';

/** What `spectral:oas` finds, the schema of OpenAPI 3.1 (its rule `oas3-schema`) included. */
async function spectral(text: string): Promise<string[]> {
  const linter = new Spectral();
  linter.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] });
  return (await linter.run(text)).map(({ code, path, message }) => `${String(code)} ${path.join('.')}: ${message}`);
}

/** What Redocly's rule set `recommended` finds. */
async function redocly(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

const textWith = (env: Record<string, string>) => createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused', ...env }));

describe.each([
  ['without addresses', {}],
  ['with addresses', { PUBLIC_BASE_URL: 'https://store.test/animals', STAGING_BASE_URL: 'https://staging.store.test' }],
])('the OpenAPI document %s', (_which, env) => {
  it('has nothing that spectral:oas warns of', async () => {
    expect(await spectral(await textWith(env))).toEqual([]);
  });

  it('has nothing that Redocly warns of', async () => {
    expect(await redocly(await textWith(env))).toEqual([]);
  });
});

describe('the rules', () => {
  it.each([
    ['a document that is not OpenAPI 3.1', /"title": "Animal Store",/, '', 'oas3-schema', 'struct'],
    ['an example that its schema refuses', /"example": "Rex"/, '"example": 7', 'oas3-valid-schema-example', 'no-invalid-schema-examples'],
    [
      'two operations of one name',
      /"operationId": "getPet"/,
      '"operationId": "listPets"',
      'operation-operationId-unique',
      'operation-operationId-unique',
    ],
    ['a schema that is not there', /schemas\/Pets"/, 'schemas/Cats"', 'invalid-ref', 'no-unresolved-refs'],
  ])('see %s', async (_what, good, bad, spectralRule, redoclyRule) => {
    const text = (await textWith({})).replace(good, bad);
    expect(await spectral(text)).toContainEqual(expect.stringMatching(new RegExp(`^${spectralRule} `)));
    expect(await redocly(text)).toContainEqual(expect.stringMatching(new RegExp(`^${redoclyRule} `)));
  });
});
