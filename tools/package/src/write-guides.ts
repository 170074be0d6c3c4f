/**
 * The target `guides` of the API: renders the documentation and its search index to apps/api/guides, with the assets of the pages.
 * The service serves this folder at `/docs`. Each text is also compressed.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { readGuides } from './guides/guide-sources.js';
import { renderGuides } from './guides/render-guides.js';
import { renderSearchIndex, type SearchedDocument } from './guides/search-index.js';
import { replaceFolder } from './replace-folder.js';

const WORKSPACE = join(import.meta.dirname, '../../..');
const FOLDER = join(WORKSPACE, 'apps/api/guides');
/** The result is 5 % larger than with the default quality, in a tenth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
const { resolve } = createRequire(import.meta.url);

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(WORKSPACE, path), 'utf8')) as T;
const sources = readGuides(WORKSPACE);
const document = readJson<SearchedDocument & { info: { version: string } }>('docs/openapi.json');
const versions = { api: document.info.version, service: readJson<{ version: string }>('apps/api/package.json').version };
const assets = [
  ...globSync('apps/api/assets/docs/*', { cwd: WORKSPACE }).map((path) => join(WORKSPACE, path)),
  ...['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => resolve(`swagger-ui-dist/${name}`)),
  ...globSync('docs/{,images/}*.svg', { cwd: WORKSPACE }).map((path) => join(WORKSPACE, path)),
];

const texts = new Map([
  ...renderGuides(sources, versions),
  ...assets.map((path) => [basename(path), readFileSync(path, 'utf8')] as const),
  ['search-index.js', renderSearchIndex(sources, document)],
  ['minisearch.js', await bundleMiniSearch()],
]);
await replaceFolder(FOLDER, new Map([...texts].flatMap(([name, text]) => filesOf(name, text))));

/** Returns a text and its compressed files, which come first: then a text that is already in the folder has them. */
function filesOf(name: string, text: string): [name: string, content: string | Uint8Array][] {
  const path = join(FOLDER, name);
  const isWritten = existsSync(path) && readFileSync(path, 'utf8') === text;
  const compressed = (suffix: string, compress: () => Uint8Array): Uint8Array =>
    isWritten && existsSync(path + suffix) ? readFileSync(path + suffix) : compress();
  return [
    [`${name}.br`, compressed('.br', () => brotliCompressSync(text, BROTLI))],
    [`${name}.gz`, compressed('.gz', () => gzipSync(text))],
    [name, text],
  ];
}

/** Returns the search library as one module for browsers. */
async function bundleMiniSearch(): Promise<string> {
  const bundle = await rolldown({ input: 'minisearch', cwd: import.meta.dirname });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return output[0].code;
}
