/** The target `guides`: renders docs/guides to apps/api/guides, which the service serves at `/docs`. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderGuides } from './render-guides.js';

const SOURCES = join(import.meta.dirname, '../../../../docs/guides');
const OUT = join(import.meta.dirname, '../../guides');

const names = (await readdir(SOURCES)).filter((name) => name.endsWith('.md'));
const sources = await Promise.all(names.map(async (name) => [name, await readFile(join(SOURCES, name), 'utf8')] as const));
const pages = renderGuides(new Map(sources));

await mkdir(OUT, { recursive: true });
for (const name of await readdir(OUT)) if (!pages.has(name)) await rm(join(OUT, name));
for (const [name, html] of pages) {
  const file = join(OUT, name);
  // Replaced atomically, because a service may be reading the page.
  if ((await readFile(file, 'utf8').catch(() => undefined)) === html) continue;
  await writeFile(`${file}.new`, html);
  await rename(`${file}.new`, file);
}
