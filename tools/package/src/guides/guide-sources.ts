import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page at `/docs`. Its lists are the navigation of the callers' pages. */
export const HOME = 'docs/guides/README.md';
/** The index of all documents. Its lists are the navigation of the other readers' pages. */
export const INDEX = 'docs/README.md';
/** The documentation of the client: also the README of its package. */
export const CLIENT = 'libs/client/README.md';

const OTHERS = [CLIENT, 'CONTRIBUTING.md', 'libs/database/README.md', 'libs/http-kit/README.md'];
const NAMES: Readonly<Record<string, string>> = {
  [HOME]: '',
  [INDEX]: 'documents',
  [CLIENT]: 'typescript-client',
  'CONTRIBUTING.md': 'contributing',
  'docs/adr/README.md': 'decisions',
};

/** Returns the Markdown of all pages, by path from the root of the workspace. */
export function readGuides(workspace: string): ReadonlyMap<string, string> {
  const read = (path: string): string => readFileSync(join(workspace, path), 'utf8');
  const found = globSync(['docs/*.md', 'docs/adr/*.md', 'docs/guides/*.md'], { cwd: workspace });
  const files = [...found.map((file) => file.replaceAll('\\', '/')), ...OTHERS].sort();
  return new Map(files.map((file) => [file, includePrograms(read(file), (path) => read(`docs/guides/${path}`))]));
}

/**
 * Replaces lines such as `[Go](samples/list-pets.go)` by code blocks.
 * @param read Returns the program at a path from docs/guides.
 */
export function includePrograms(markdown: string, read: (path: string) => string): string {
  return markdown.replace(
    /^\[\w+\]\((samples\/[\w-]+\.(go|js|py|ts))\)$/gm,
    (_line, path: string, suffix: string) => `\`\`\`${suffix === 'py' ? 'python' : suffix}\n${read(path)}\`\`\``,
  );
}

/** Returns whether a page is for callers of the API. */
export function isGuide(file: string): boolean {
  return file.startsWith('docs/guides/') || file === CLIENT;
}

/** Returns the path of a page below `/docs/`, without a suffix. */
export function pathOf(file: string): string {
  const name = NAMES[file] ?? file.replace(/^.*\/(\w[\w-]*)\/README\.md$/, '$1').replace(/^.*\/|\.md$/g, '');
  return /^\d{4}-/.test(name) ? `adr-${name}` : name;
}

/** Returns the anchor of a heading, the same as on GitHub. */
export function headingId(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
