import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useOwnService } from '../support/use-api.js';

const WORKSPACE = join(import.meta.dirname, '../../../..');
const TSC = join(createRequire(import.meta.url).resolve('@typescript/7/package.json'), '../bin/tsc');

/** Uses the client of API_KEY and BASE_URL. `main` prints PRINTED. */
const USE = `
const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: process.env.BASE_URL });
async function main() {
  const { id, categoryId } = await client.pets.create({ name: 'Rex', categoryId: 9223372036854775807n });
  for await (const pet of client.pets.list({ limit: 1 })) if (pet.id === id) console.log(categoryId, typeof id);
  await client.pets.create({ name: '', categoryId: 7n }).catch((error) => {
    if (error instanceof APIError) console.log(error.name, error.code);
  });
}
`;
const PRINTED = '9223372036854775807n bigint\nAPIError invalid_request\n';
const IMPORT = `import { AnimalStore, APIError } from '@animal-store/client';`;
const TYPED_USE = `${IMPORT}\ndeclare const process: { env: Record<string, string | undefined> };\n${USE}`;
const NODENEXT = { module: 'nodenext' };
/** Compiler options with the types of Node.js and without those of browsers. */
const NODE_TYPES = { lib: ['es2022'], types: ['node'], typeRoots: [join(WORKSPACE, 'node_modules/@types')] };

const run = promisify(execFile);
const own = useOwnService();
/** An empty project with the client installed from its npm package. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-installed-client-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: join(WORKSPACE, 'libs/client') });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  await write('package.json', '{ "private": true }');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed?.filename ?? '')], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);

/** Runs a program and returns its output. */
function runProgram(file: string): Promise<{ stdout: string; stderr: string }> {
  const { key, baseUrl } = own.api.target;
  return run(process.execPath, [file], { cwd: folder, env: { PATH: process.env['PATH'], API_KEY: key, BASE_URL: baseUrl } });
}

/** Compiles files and type-checks them and the declarations of the client. Throws the compiler errors. */
async function compile(files: readonly string[], options: object): Promise<void> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, target: 'es2022', lib: ['es2022', 'dom'], types: [], pretty: false };
  await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...strict, ...options }, files }));
  // Nx sets FORCE_COLOR, which has precedence over `pretty`.
  await run(process.execPath, [TSC], { cwd: folder, env: { ...process.env, FORCE_COLOR: undefined } }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
}

describe('the installed package works in', () => {
  it.each([
    ['an ES module', 'program.mjs', `${IMPORT}${USE}await main();`],
    ['a CommonJS module', 'program.cjs', `const { AnimalStore, APIError } = require('@animal-store/client');${USE}void main();`],
  ])('%s', async (_kind, file, source) => {
    await write(file, source);
    expect(await runProgram(file)).toEqual({ stdout: PRINTED, stderr: '' });
  });

  it('TypeScript, which reports wrong types', async () => {
    const wrong = [
      "client.pets.create({ name: 'Rex', categoryId: 7 });",
      "client.pets.list({ status: 'lost' });",
      'client.pets.create({ categoryId: 7n });',
      "const id: number = (await client.pets.create({ name: 'Rex', categoryId: 7n })).id;",
    ];
    const files = wrong.map((_, index) => `wrong${index}.mts`);
    for (const [index, line] of wrong.entries()) await write(`wrong${index}.mts`, `${TYPED_USE}${line}`);
    const { message } = (await compile(files, { ...NODENEXT, noEmit: true }).catch((error: unknown) => error)) as Error;
    for (const file of files) expect(message).toMatch(new RegExp(`^${file}\\(\\d+,\\d+\\): error`, 'm'));
    expect(message.match(/error TS/g)).toHaveLength(wrong.length);
  });
});

it('the snippets of the README compile and run', async () => {
  const text = await readFile(join(folder, 'node_modules/@animal-store/client/README.md'), 'utf8');
  const [setUp = '', ...snippets] = [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const files = snippets.map((_, index) => `readme-${index}.mts`);
  expect(files.length).toBeGreaterThan(7);
  for (const [index, code] of snippets.entries()) await write(`readme-${index}.mts`, `${setUp}${code}`);
  await compile(files, { ...NODENEXT, ...NODE_TYPES, noEmit: true });
  await write('readme.mjs', files.map((file) => `await import('./${file}');\n`).join(''));
  const { stdout } = await runProgram('readme.mjs');
  for (const line of ['Rex has the id ', '"categoryId":"9223372036854775807"', '400 invalid_request: ', 'true\n', '/v1/pets/']) {
    expect(stdout).toContain(line);
  }
});
