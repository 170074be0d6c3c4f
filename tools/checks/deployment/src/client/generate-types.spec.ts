import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GENERATED_FILE, generateTypes } from './generate-types.js';

const read = (file: URL) => readFileSync(file, 'utf8');
const DOCUMENT = read(new URL('../../../../../docs/openapi.json', import.meta.url));

const documentWith = (schemas: object, { paths = {}, components = {} } = {}) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths,
    components: {
      ...components,
      schemas: { Error: { type: 'object', properties: { code: { type: 'string', enum: ['one_code'] } } }, ...schemas },
    },
  });
const object = (properties: object) => ({ type: 'object', properties });
const INT64 = { type: 'integer', format: 'int64' };

describe('the generated types', () => {
  it('match docs/openapi.json (npx nx openapi api)', async () => {
    expect(read(GENERATED_FILE)).toBe(await generateTypes(DOCUMENT));
  });

  it('have bigint for int64, number for other integers, and optional members with a default', async () => {
    const types = await generateTypes(
      documentWith({ Toy: object({ id: INT64, price: { type: 'integer' }, colour: { type: 'string', default: 'red' } }) }),
    );
    expect(types).toMatch(/\bid\?: bigint;/);
    expect(types).toMatch(/\bprice\?: number;/);
    expect(types).toMatch(/\bcolour\?: string;/);
    expect(types).toContain("new Set(['id'])");
    expect(types).toContain("KnownErrorCode = 'one_code'");
  });

  it('have null for members that may be null, and string for times', async () => {
    const colour = { anyOf: [{ $ref: '#/components/schemas/Colour' }, { type: 'null' }], description: 'x' };
    const types = await generateTypes(
      documentWith({
        Colour: { type: 'string', enum: ['red'] },
        Toy: object({
          note: { type: ['string', 'null'] },
          ownerId: { ...INT64, type: ['integer', 'null'] },
          soldAt: { type: 'string', format: 'date-time' },
          colour,
        }),
      }),
    );
    expect(types).toMatch(/\bnote\?: string \| null;/);
    expect(types).toMatch(/\bownerId\?: bigint \| null;/);
    expect(types).toMatch(/\bsoldAt\?: string;/);
    expect(types).toMatch(/\bcolour\?: components\['schemas'\]\['Colour'\] \| null;/);
    expect(types).toContain("new Set(['ownerId'])");
  });

  it('have the parameters of an operation, except for header fields, and no responses', async () => {
    const parameter = (name: string, place: string) => ({ name, in: place, schema: { type: 'string' } });
    const components = {
      parameters: { Page: parameter('page', 'query'), Trace: parameter('trace', 'header') },
      responses: { Teapot: { description: 'A teapot' } },
    };
    const parameters = [
      { $ref: '#/components/parameters/Page' },
      { $ref: '#/components/parameters/Trace' },
      parameter('colour', 'query'),
      parameter('prefer', 'header'),
    ];
    const responses = { 200: { description: 'Toys' }, 418: { $ref: '#/components/responses/Teapot' } };
    const types = await generateTypes(
      documentWith({}, { paths: { '/toys': { get: { operationId: 'listToys', parameters, responses } } }, components }),
    );
    expect(types).toMatch(/listToys: \{\s+parameters: \{\s+query\?: \{/);
    expect(types).toContain("page?: components['parameters']['Page'];");
    expect(types).toContain('colour?: string;');
    expect(types).not.toMatch(/trace|prefer|200|418|teapot|paths/i);
  });

  it('show examples above 2^53 exactly', async () => {
    const document = documentWith({ Toy: object({ id: { ...INT64, example: 'ID' } }) }).replace('"ID"', '9007199254740993');
    expect(await generateTypes(document)).toContain('@example 9007199254740993\n');
  });

  it('are rejected if a name is int64 in one schema only', async () => {
    const document = documentWith({ Toy: object({ id: INT64 }), Shop: object({ id: { type: 'string' } }) });
    await expect(generateTypes(document)).rejects.toThrow('id is int64 in one schema and has another type in another schema');
  });

  it('are rejected if the document lists no error codes', async () => {
    await expect(generateTypes(documentWith({ Error: object({ code: { type: 'string' } }) }))).rejects.toThrow('lists no codes');
  });
});
