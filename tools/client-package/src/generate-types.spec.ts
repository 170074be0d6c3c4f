import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GENERATED_FILE, generateTypes } from './generate-types.js';

const read = (file: URL) => readFileSync(file, 'utf8');
const DOCUMENT = read(new URL('../../../docs/openapi.json', import.meta.url));

const documentWith = (schemas: object) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.0.0' },
    paths: {},
    components: { schemas: { Error: { type: 'object', properties: { code: { type: 'string', enum: ['one_code'] } } }, ...schemas } },
  });
const object = (properties: object) => ({ type: 'object', properties });
const INT64 = { type: 'integer', format: 'int64' };

describe('the generated types', () => {
  it('are those of docs/openapi.json (npm run openapi)', async () => {
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

  it('show examples above 2^53 digit for digit', async () => {
    const document = documentWith({ Toy: object({ id: { ...INT64, example: 'ID' } }) }).replace('"ID"', '9007199254740993');
    expect(await generateTypes(document)).toContain('@example 9007199254740993\n');
  });

  it('are refused if a name is int64 in one schema only', async () => {
    const document = documentWith({ Toy: object({ id: INT64 }), Shop: object({ id: { type: 'string' } }) });
    await expect(generateTypes(document)).rejects.toThrow('id is int64 in one schema and another type in another one');
  });

  it('are refused if the document lists no error codes', async () => {
    await expect(generateTypes(documentWith({ Error: object({ code: { type: 'string' } }) }))).rejects.toThrow('lists no codes');
  });
});
