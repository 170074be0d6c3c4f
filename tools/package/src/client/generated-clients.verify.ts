import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../../../..');

/** Lists, creates and gets through the types of openapi-typescript, with the client that its authors provide. */
const WITH_OPENAPI_TYPESCRIPT = `
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const client = createClient<paths>({ baseUrl: 'http://localhost:3000/v1', headers: { Authorization: 'Bearer ast_…' } });

export async function run(): Promise<components['schemas']['Pet'][]> {
  const listed = await client.GET('/pets', { params: { query: { status: 'available', limit: 20 } } });
  const created = await client.POST('/pets', { body: { name: 'Rex', categoryId: 7 }, params: { header: { 'Idempotency-Key': 'rex' } } });
  if (created.error) throw new Error(\`\${created.error.code} \${created.error.message} \${created.error.status}\`);
  const { id } = created.data;
  const found = await client.GET('/pets', { params: { query: { id } } });
  const got = await client.GET('/pets/{petId}', { params: { path: { petId: id } } });
  return [...(listed.data ?? []), ...(found.data ?? []), ...(got.data ? [got.data] : [])];
}
`;

/** The same with hey-api. */
const WITH_HEY_API = `
import { createPet, getPet, listPets, type Pet } from './client/index.js';
import { client } from './client/client.gen.js';

client.setConfig({ baseUrl: 'http://localhost:3000/v1', auth: 'ast_…' });

export async function run(): Promise<Pet[]> {
  const listed = await listPets({ query: { status: 'available', limit: 20 } });
  const created = await createPet({ body: { name: 'Rex', categoryId: 7 }, headers: { 'Idempotency-Key': 'rex' } });
  if (!created.data) throw new Error(\`\${created.error.code} \${created.error.message} \${created.error.status}\`);
  const { id } = created.data;
  const found = await listPets({ query: { id } });
  const got = await getPet({ path: { petId: id } });
  return [...(listed.data ?? []), ...(found.data ?? []), ...(got.data ? [got.data] : [])];
}
`;

interface Generator {
  readonly command: string;
  readonly args: readonly string[];
  readonly program: string;
}

const GENERATORS: Readonly<Record<string, Generator>> = {
  'openapi-typescript': {
    command: 'openapi-typescript',
    args: ['openapi.json', '--output', 'schema.d.ts'],
    program: WITH_OPENAPI_TYPESCRIPT,
  },
  'hey-api': {
    command: 'openapi-ts',
    args: ['--input', 'openapi.json', '--output', 'client', '--silent', '--no-log-file'],
    program: WITH_HEY_API,
  },
};

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'animal-store-clients-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Generates a client from docs/openapi.json, and returns the compiler errors of the program that uses it. */
function compile({ command, args, program }: Generator): string[] {
  copyFileSync(join(ROOT, 'docs/openapi.json'), join(folder, 'openapi.json'));
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  execFileSync(process.execPath, [join(ROOT, 'node_modules/.bin', command), ...args], { cwd: folder, stdio: 'pipe' });
  const compiled = ts.createProgram([file], {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    skipLibCheck: true,
  });
  return ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

it.each(Object.entries(GENERATORS))('a client that %s generates lists, creates and gets', (_name, generator) => {
  expect(compile(generator)).toEqual([]);
});
