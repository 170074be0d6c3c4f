import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstalledClient } from './installed-client.js';

/** Uses the client of API_KEY and BASE_URL. `main` prints PRINTED. */
export const USE = `
const client = new AnimalStore({ apiKey: process.env.API_KEY, baseURL: process.env.BASE_URL });
async function main() {
  const { id, categoryId } = await client.pets.create({ name: 'Rex', categoryId: 9223372036854775807n });
  for await (const pet of client.pets.list({ limit: 1 })) if (pet.id === id) console.log(categoryId, typeof id);
  await client.pets.create({ name: '', categoryId: 7n }).catch((error) => {
    if (error instanceof APIError) console.log(error.name, error.code);
  });
}
`;
export const PRINTED = '9223372036854775807n bigint\nBadRequestError invalid_request\n';
export const IMPORT = `import { AnimalStore, APIError } from '@animal-store/client';`;

export const NODENEXT = { module: 'nodenext' };
export const TYPED_USE = `${IMPORT}\ndeclare const process: { env: Record<string, string | undefined> };\n${USE}`;

/** The files and compiler options of each module resolution that the types of the package support. */
export const RESOLUTIONS: readonly [name: string, files: readonly string[], options: object][] = [
  ['nodenext', ['typed.mts', 'typed.cts'], NODENEXT],
  ['node16', ['typed.mts', 'typed.cts'], { module: 'node16' }],
  ['bundler', ['typed.mts'], { module: 'esnext', moduleResolution: 'bundler' }],
];

/** Writes each snippet of the installed README to a file, after the set-up of the client. Returns the names of the files. */
export async function writeReadmeSnippets(project: InstalledClient): Promise<string[]> {
  const text = await readFile(join(project.folder, 'node_modules/@animal-store/client/README.md'), 'utf8');
  const snippets = [...text.matchAll(/^```(ts|js)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));
  const [setUp] = snippets;
  const files = snippets.map(({ language }, index) => `readme-${index}.${language === 'ts' ? 'mts' : 'cjs'}`);
  for (const [index, { language, code }] of snippets.entries()) {
    await project.write(files[index] ?? '', language === 'js' || index === 0 ? code : `${setUp?.code ?? ''}${code}`);
  }
  return files;
}
