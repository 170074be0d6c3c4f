import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useOwnService } from '../support/use-api.js';
import { InstalledClient, NODE_TYPES } from './installed-client.js';

const own = useOwnService();
let project: InstalledClient;

beforeAll(async () => {
  project = await InstalledClient.install();
});
afterAll(() => project.remove());

const environment = () => ({ ANIMAL_STORE_API_KEY: own.api.target.key, ANIMAL_STORE_BASE_URL: own.api.target.baseUrl });

const USE = `
const client = new AnimalStore({ apiKey: process.env.ANIMAL_STORE_API_KEY, baseURL: process.env.ANIMAL_STORE_BASE_URL });
async function main() {
  const { id, categoryId } = await client.pets.create({ name: 'Rex', categoryId: 9223372036854775807n });
  for await (const pet of client.pets.list({ limit: 1 })) if (pet.id === id) console.log(categoryId, typeof id);
  await client.pets.create({ name: '', categoryId: 7n }).catch((error) => {
    if (error instanceof APIError) console.log(error.name, error.code);
  });
}
`;
const PRINTED = '9223372036854775807n bigint\nBadRequestError invalid_request\n';
const IMPORT = `import { AnimalStore, APIError } from '@animal-store/client';`;

describe('the installed package works in', () => {
  it.each([
    ['an ES module', 'program.mjs', `${IMPORT}${USE}await main();`],
    ['a CommonJS module', 'program.cjs', `const { AnimalStore, APIError } = require('@animal-store/client');${USE}void main();`],
  ])('%s', async (_kind, file, source) => {
    await project.write(file, source);
    expect(await project.run(file, environment())).toEqual({ stdout: PRINTED, stderr: '' });
  });

  const NODENEXT = { module: 'nodenext' };
  const PROCESS = 'declare const process: { env: Record<string, string | undefined> };\n';

  it.each([
    ['nodenext', ['typed.mts', 'typed.cts'], NODENEXT],
    ['node16', ['typed.mts', 'typed.cts'], { module: 'node16' }],
    ['bundler', ['typed.mts'], { module: 'esnext', moduleResolution: 'bundler' }],
  ])('TypeScript with the module resolution %s', async (_resolution, files, options) => {
    for (const file of files) await project.write(file, `${IMPORT}\n${PROCESS}${USE}void main();`);
    await project.compile(files, options);
    for (const file of files) {
      expect(await project.run(file.replace('ts', 'js'), environment())).toEqual({ stdout: PRINTED, stderr: '' });
    }
  });

  it('TypeScript, which reports wrong types', async () => {
    const wrong = [
      "client.pets.create({ name: 'Rex', categoryId: 7 });",
      "client.pets.list({ status: 'lost' });",
      'client.pets.create({ categoryId: 7n });',
      "const id: number = (await client.pets.create({ name: 'Rex', categoryId: 7n })).id;",
    ];
    for (const [index, line] of wrong.entries()) await project.write(`wrong${index}.mts`, `${IMPORT}\n${PROCESS}${USE}${line}`);
    const compiling = project.compile(
      wrong.map((_, index) => `wrong${index}.mts`),
      { ...NODENEXT, noEmit: true },
    );
    const { message } = (await compiling.catch((error: unknown) => error)) as Error;
    for (const index of wrong.keys()) expect(message).toMatch(new RegExp(`^wrong${index}\\.mts\\(\\d+,\\d+\\): error`, 'm'));
    expect(message.match(/error TS/g)).toHaveLength(wrong.length);
  });

  it('an ES and a CommonJS module in one process, which warns once', async () => {
    const retrieve = 'await client.pets.create({ name: "Rex", categoryId: 7n }).then(({ id }) => client.pets.retrieve(id));';
    await project.write(
      'both.cjs',
      `const { AnimalStore, APIError } = require('@animal-store/client');${USE}exports.retrieve = async () => { ${retrieve} };`,
    );
    await project.write('both.mjs', `${IMPORT}${USE}${retrieve}\nawait (await import('./both.cjs')).default.retrieve();`);
    const { stderr } = await project.run('both.mjs', environment());
    expect(stderr).toMatch(/^Animal Store: getPet has been deprecated since .*\n$/);
  });
});

describe('the README of the client', () => {
  let snippets: readonly { readonly language: string; readonly code: string }[];
  let files: readonly string[];

  beforeAll(async () => {
    const text = await readFile(join(project.folder, 'node_modules/@animal-store/client/README.md'), 'utf8');
    snippets = [...text.matchAll(/^```(ts|js)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));
    const [setUp] = snippets;
    files = snippets.map(({ language }, index) => `readme-${index}.${language === 'ts' ? 'mts' : 'cjs'}`);
    for (const [index, { language, code }] of snippets.entries()) {
      await project.write(files[index] ?? '', language === 'js' || index === 0 ? code : `${setUp?.code ?? ''}${code}`);
    }
  });

  it('has snippets that compile with the types of Node.js and without those of browsers', async () => {
    const typed = files.filter((file) => file.endsWith('.mts'));
    expect(typed.length).toBeGreaterThan(10);
    await project.compile(typed, { module: 'nodenext', ...NODE_TYPES, noEmit: true });
  });

  it('has snippets that run', async () => {
    const outputs: string[] = [];
    for (const file of files) outputs.push((await project.run(file, environment())).stdout);
    const all = outputs.join('');
    for (const line of [
      'Rex has the id ',
      '"categoryId":"9223372036854775807"',
      '400 invalid_request: ',
      'true\n',
      '304\n',
      '/v1/pets/',
      'listPets 1 200 ',
    ]) {
      expect(all).toContain(line);
    }
  });
});
