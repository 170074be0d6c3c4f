/** The target `guides`: renders docs/guides and the search index to apps/api/guides, which the service serves at `/docs`. */
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { CLIENT } from './guide-paths.js';
import { includePrograms } from './include-programs.js';
import { renderGuides } from './render-guides.js';
import { renderSearchIndex, type SearchedDocument } from './search-index.js';

const SOURCES = join(import.meta.dirname, '../../../../docs/guides');
const OUT = join(import.meta.dirname, '../../guides');

const names = [...(await readdir(SOURCES)).filter((name) => name.endsWith('.md')), CLIENT];
const sources = new Map(await Promise.all(names.map(async (name) => [name, await readGuide(name)] as const)));
const document = JSON.parse(await readFile(join(SOURCES, '../openapi.json'), 'utf8')) as SearchedDocument & { info: { version: string } };

const files = new Map([
  ...renderGuides(sources, document.info.version),
  ['search-index.js', renderSearchIndex(sources, document)],
  ['minisearch.js', await bundleMiniSearch()],
]);

await mkdir(OUT, { recursive: true });
for (const name of await readdir(OUT)) if (!files.has(name)) await rm(join(OUT, name));
for (const [name, content] of files) {
  const file = join(OUT, name);
  // Replaced atomically, because a service may be reading the file.
  if ((await readFile(file, 'utf8').catch(() => undefined)) === content) continue;
  await writeFile(`${file}.new`, content);
  await rename(`${file}.new`, file);
}

async function readGuide(name: string): Promise<string> {
  const markdown = await readFile(join(SOURCES, name), 'utf8');
  return includePrograms(markdown, (program) => readFileSync(join(SOURCES, program), 'utf8'));
}

/** Returns the search library as one module for browsers. */
async function bundleMiniSearch(): Promise<string> {
  const bundle = await rolldown({ input: 'minisearch', cwd: import.meta.dirname });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return output[0].code;
}
