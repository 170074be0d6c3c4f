import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { GENERATED_FILE, generateTypes } from './generate-types.js';

const CLIENT = join(import.meta.dirname, '../../../../../libs/client');
const MAX_GZIPPED_BYTES = 8 * 1024;

interface PackedPackage {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let tarball: Buffer;
let files: readonly string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'animal-store-client-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const output = execFileSync('npm', args, { cwd: CLIENT, encoding: 'utf8', shell: process.platform === 'win32' });
  const [packed] = JSON.parse(output) as PackedPackage[];
  tarball = readFileSync(join(folder, packed?.filename ?? ''));
  files = packed?.files.map(({ path }) => path) ?? [];
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the package', () => {
  it('has the built client, its sources, a README and the licence, and no tests', () => {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']));
    expect(files.filter((file) => /spec|tsbuildinfo|tsconfig|jest/.test(file))).toEqual([]);
  });

  it('has no dependencies and is not private', () => {
    const manifest = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name) || name === 'private')).toEqual([]);
  });

  it('passes publint', async () => {
    const { messages } = await publint({ pack: { tarball: toArrayBuffer(tarball) }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types for the module resolutions nodenext and bundler (arethetypeswrong)', async () => {
    // Clients of examples import `./resource`, which only this workspace resolves.
    const analysis = await checkPackage(createPackageFromTarballData(tarball), { excludeEntrypoints: ['./resource'] });
    expect(analysis).toMatchObject({ types: { kind: 'included' } });
    // A CommonJS module requires the ES module, which TypeScript's older resolution `node16` rejects.
    const problems = analysis.types ? analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM' && kind !== 'NoResolution') : [];
    expect(problems).toEqual([]);
  });
});

function toArrayBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

/** Returns the minified bundle of a program that imports the client. */
async function bundleProgram(program: string): Promise<string> {
  const bundle = await rolldown({
    input: 'program',
    platform: 'browser',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : id === '@animal-store/client' ? join(CLIENT, 'dist/index.js') : undefined),
        load: (id) => (id === 'program' ? program : undefined),
      },
    ],
  });
  // The default of the second option is a regular expression of Jest's own realm, which native code rejects.
  const { output } = await bundle.generate({ minify: true, sourcemapIgnoreList: false });
  await bundle.close();
  return output[0].code;
}

describe('bundled for a browser', () => {
  it('has at most 8 KB with all exports, minified and gzipped, and imports nothing', async () => {
    const bundle = await bundleProgram("export * from '@animal-store/client';");
    expect(gzipSync(bundle).length).toBeLessThanOrEqual(MAX_GZIPPED_BYTES);
    expect(bundle).not.toMatch(/\bimport\b|\brequire\b/);
  });

  it('leaves out exports that are not imported', async () => {
    expect(await bundleProgram("import '@animal-store/client';")).toBe('');
  });

  it('keeps the names of errors', async () => {
    const program = "import { APIConnectionError } from '@animal-store/client'; globalThis.error = new APIConnectionError('none');";
    const context: { error?: Error } = {};
    runInNewContext(await bundleProgram(program), context);
    expect(String(context.error)).toBe('APIConnectionError: none');
  });
});

describe('the generated types', () => {
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
