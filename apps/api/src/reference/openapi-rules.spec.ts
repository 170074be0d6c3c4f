import { join } from 'node:path';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createOpenApiText } from '../openapi-text.js';
import { readConfig } from '../process/config.js';

const CONFIG = join(import.meta.dirname, '../../redocly.yaml');

const textWith = (env: Record<string, string>) => createOpenApiText(readConfig({ DATABASE_URL: 'postgres://unused', ...env }));

/** Returns each problem as `<rule> <pointer>: <message>`. */
async function lint(text: string): Promise<string[]> {
  const config = await loadConfig({ configPath: CONFIG });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer ?? ''}: ${message}`);
}

/** Returns the pointers of invalid defaults and header examples, which Redocly does not validate. */
function invalidValues(text: string): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const document = JSON.parse(text) as object;
  ajv.addSchema(document, 'openapi');
  const isValid = (pointer: string, value: unknown) => ajv.validate({ $ref: `openapi#${encodeURI(pointer)}` }, value);
  const search = (node: unknown, pointer: string): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    const invalid = [
      ...('default' in node && !isValid(pointer, node.default) ? [`${pointer}/default`] : []),
      ...('example' in node && 'schema' in node && !isValid(`${pointer}/schema`, node.example) ? [`${pointer}/example`] : []),
    ];
    const children = Object.entries(node).filter(([key]) => key !== 'default' && key !== 'example' && key !== 'examples');
    const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
    return [...invalid, ...children.flatMap(([key, child]) => search(child, `${pointer}/${escaped(key)}`))];
  };
  return search(document, '');
}

/** Returns the names of the schemas with a member that has a default. Some client generators make such members required. */
function schemasWithDefaults(text: string): string[] {
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
  return Object.entries(components.schemas).flatMap(([name, schema]) => (JSON.stringify(schema).includes('"default":') ? [name] : []));
}

describe.each([
  ['without addresses', {}],
  ['with addresses', { PUBLIC_BASE_URL: 'https://store.test/animals', STAGING_BASE_URL: 'https://staging.store.test' }],
])('the OpenAPI document %s', (_which, env) => {
  let text: string;
  beforeAll(async () => {
    text = await textWith(env);
  });

  it('follows the rules of redocly.yaml', async () => {
    expect(await lint(text)).toEqual([]);
  });

  it('has valid defaults and header examples', () => {
    expect(invalidValues(text)).toEqual([]);
  });

  it('has no members with a default', () => {
    expect(schemasWithDefaults(text)).toEqual([]);
  });
});

describe('the rules detect', () => {
  let text: string;
  beforeAll(async () => {
    text = await textWith({});
  });

  it.each([
    ['a document that is not OpenAPI 3.1', /"title": "Animal Store",/, '', 'struct'],
    ['an example that does not match its schema', /"example": "Rex"/, '"example": 7', 'no-invalid-schema-examples'],
    ['a duplicate operationId', /"operationId": "getPet"/, '"operationId": "listPets"', 'operation-operationId-unique'],
    ['a reference to a missing schema', /schemas\/Pets"/, 'schemas/Cats"', 'no-unresolved-refs'],
    ['an undefined tag', /"tags": \[\s*"pets"\s*\]/, '"tags": ["cats"]', 'operation-tag-defined'],
    ['a missing contact', /"contact": \{[^}]*\},/, '', 'info-contact'],
    ['an operation without a description', /"description": "[^"]*Requires the scope[^"]*",/, '', 'operation-description'],
    ['a document without a description', /"description": "The catalogue[^"]*",/, '', 'rule/info-description'],
    ['an array without items', /"items": \{[^}]*\}/, '"description": "Anything"', 'rule/array-items'],
  ])('%s', async (_what, good, bad, rule) => {
    expect(await lint(text.replace(good, bad))).toContainEqual(expect.stringMatching(new RegExp(`^${rule} `)));
  });

  it('an invalid default', () => {
    expect(invalidValues(text.replace(/"default": 20/, '"default": 200'))).toContainEqual(expect.stringMatching(/\/default$/));
  });

  it('a member with a default', () => {
    expect(schemasWithDefaults(text.replace('"description": "Availability status. Default:', '"default": "sold", $&'))).toEqual(['NewPet']);
  });

  it('an invalid example of a header', () => {
    expect(invalidValues(text.replace(/"example": "nosniff"/, '"example": 7'))).toEqual(['/components/headers/NoSniff/example']);
  });
});
