/** The target `guides` of the API: renders docs/guides and the search index to apps/api/guides, which the service serves at `/docs`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { readGuides } from './guides/guide-sources.js';
import { renderGuides } from './guides/render-guides.js';
import { renderSearchIndex, type SearchedDocument } from './guides/search-index.js';
import { replaceFolder } from './replace-folder.js';

const WORKSPACE = join(import.meta.dirname, '../../..');

const sources = readGuides(join(WORKSPACE, 'docs/guides'));
const document = JSON.parse(readFileSync(join(WORKSPACE, 'docs/openapi.json'), 'utf8')) as SearchedDocument & { info: { version: string } };

const files = new Map([
  ...renderGuides(sources, document.info.version),
  ['search-index.js', renderSearchIndex(sources, document)],
  ['minisearch.js', await bundleMiniSearch()],
]);
await replaceFolder(join(WORKSPACE, 'apps/api/guides'), files);

/** Returns the search library as one module for browsers. */
async function bundleMiniSearch(): Promise<string> {
  const bundle = await rolldown({ input: 'minisearch', cwd: import.meta.dirname });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return output[0].code;
}
