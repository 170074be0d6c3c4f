import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useOwnService } from '../support/use-api.js';
import { InstalledClient, NODE_TYPES } from './installed-client.js';
import { IMPORT, NODENEXT, PRINTED, RESOLUTIONS, TYPED_USE, USE, writeReadmeSnippets } from './installed-programs.js';

const own = useOwnService();
let project: InstalledClient;

beforeAll(async () => {
  project = await InstalledClient.install();
});
afterAll(() => project.remove());

const environment = () => ({ API_KEY: own.api.target.key, BASE_URL: own.api.target.baseUrl });

describe('the installed package works in', () => {
  it.each([
    ['an ES module', 'program.mjs', `${IMPORT}${USE}await main();`],
    ['a CommonJS module', 'program.cjs', `const { AnimalStore, APIError } = require('@animal-store/client');${USE}void main();`],
  ])('%s', async (_kind, file, source) => {
    await project.write(file, source);
    expect(await project.run(file, environment())).toEqual({ stdout: PRINTED, stderr: '' });
  });

  it.each(RESOLUTIONS)('TypeScript with the module resolution %s', async (_resolution, files, options) => {
    for (const file of files) await project.write(file, `${TYPED_USE}void main();`);
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
    for (const [index, line] of wrong.entries()) await project.write(`wrong${index}.mts`, `${TYPED_USE}${line}`);
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
  let files: readonly string[];

  beforeAll(async () => {
    files = await writeReadmeSnippets(project);
  });

  it('has snippets that compile with the types of Node.js and without those of browsers', async () => {
    const typed = files.filter((file) => file.endsWith('.mts'));
    expect(typed.length).toBeGreaterThan(10);
    await project.compile(typed, { module: 'nodenext', ...NODE_TYPES, noEmit: true });
  });

  it('has snippets that run', async () => {
    await project.write('readme.mjs', files.map((file) => `await import('./${file}');\n`).join(''));
    const { stdout } = await project.run('readme.mjs', environment());
    for (const line of [
      'Rex has the id ',
      '"categoryId":"9223372036854775807"',
      '400 invalid_request: ',
      'true\n',
      '304\n',
      '/v1/pets/',
      'listPets 1 200 ',
    ]) {
      expect(stdout).toContain(line);
    }
  });
});
