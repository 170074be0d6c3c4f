import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKSPACE = fileURLToPath(new URL('../../../../', import.meta.url));
export const PAGE = readFileSync(join(WORKSPACE, 'docs/adding-a-context.md'), 'utf8');
export const PATCHES = 'docs/adding-a-context';

/** A code block. Its first line is a comment with the path of the file that contains the code. */
export interface Excerpt {
  readonly path: string;
  /** Without indentation. The comment `// …` stands for omitted lines. */
  readonly lines: readonly string[];
}

/** A section of docs/adding-a-context.md. */
export interface Section {
  readonly title: string;
  /** Lines of the blocks `sh`, except those marked `norun`. */
  readonly commands: readonly string[];
  readonly excerpts: readonly Excerpt[];
}

const FENCE = /^```(.*)\n([^]*?)^```$/gm;
const ELLIPSIS = '// …';

export function sectionsOf(page: string): Section[] {
  return page.split(/^## /m).map((text) => {
    const blocks = [...text.matchAll(FENCE)].map(([, info = '', code = '']) => ({ info, lines: linesOf(code) }));
    return {
      title: text.slice(0, text.indexOf('\n')),
      commands: blocks.filter(({ info }) => info === 'sh').flatMap(({ lines }) => lines),
      excerpts: blocks
        .filter(({ info }) => info === 'ts')
        .map(({ lines: [path = '', ...lines] }) => ({ path: path.replace(/^\/\/ /, ''), lines })),
    };
  });
}

/** Returns the parts of an excerpt that the text does not contain. */
export function missingParts({ lines }: Excerpt, text: string): string[] {
  const actual = linesOf(text).join('\n');
  const parts = lines.join('\n').split(ELLIPSIS);
  return parts.map((part) => part.trim()).filter((part) => !actual.includes(part));
}

/** Returns the lines that a patch adds to a file, with the lines around them. */
export function resultOf(patch: string | undefined, path: string): string {
  const text = readFileSync(join(WORKSPACE, PATCHES, `${patch ?? ''}.patch`), 'utf8');
  const [, change = ''] =
    text
      .split(/^diff --git /m)
      .map((part) => [part.slice(0, part.indexOf('\n')), part] as const)
      .find(([head]) => head.endsWith(` b/${path}`)) ?? [];
  return change
    .split('\n')
    .filter((line) => /^(?:[ +]|$)/.test(line) && !line.startsWith('+++'))
    .map((line) => line.slice(1))
    .join('\n');
}

/** Returns the lines without indentation, and without empty lines. */
const linesOf = (text: string) => text.split('\n').flatMap((line) => line.trim() || []);
