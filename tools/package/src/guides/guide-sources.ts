import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page at `/docs`. Its lists are the navigation of all pages. */
export const HOME = 'README.md';
/** The documentation of the client, from docs/guides: also the README of its package. */
export const CLIENT = '../../libs/client/README.md';

/** Returns the Markdown of all guides, by path from their folder. */
export function readGuides(folder: string): ReadonlyMap<string, string> {
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const names = [...readdirSync(folder).filter((name) => name.endsWith('.md')), CLIENT];
  return new Map(names.map((name) => [name, includePrograms(read(name), read)]));
}

/**
 * Replaces lines such as `[Go](samples/list-pets.go)` by code blocks.
 * @param read Returns the program at a path from docs/guides.
 */
export function includePrograms(markdown: string, read: (path: string) => string): string {
  return markdown.replace(/^\[Go\]\((samples\/[\w-]+\.go)\)$/gm, (_line, path: string) => `\`\`\`go\n${read(path)}\`\`\``);
}

/** Returns the path of a page below `/docs/`, without a suffix. */
export function pathOf(file: string): string {
  if (file === HOME) return '';
  return file === CLIENT ? 'typescript-client' : file.replace(/\.md$/, '');
}

/** Returns the anchor of a heading, the same as on GitHub. */
export function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
