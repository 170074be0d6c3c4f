import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

export const GUIDES = join(import.meta.dirname, '../../../../docs/guides');

const LANGUAGES = ['sh', 'ts', 'python', 'go', 'java'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A code block or linked program of a guide, with the response and output shown for it. */
export interface Sample {
  readonly language: Language;
  /** Title of the section. */
  readonly heading: string;
  readonly code: string;
  /** Number of the group. The samples of a group are the same request in several languages. */
  readonly group: number;
  /** Body of the response, shown for `sh`. */
  json?: string;
  /** Status and header lines of the response, shown for `sh`. `…` matches any text. */
  http?: string;
  /** Output of the program, shown for all languages except `sh`. */
  text?: string;
}

/** Returns the samples by guide name, in page order, without blocks marked `norun`. */
export function readSamples(): ReadonlyMap<string, readonly Sample[]> {
  const files = readdirSync(GUIDES).filter((file) => file.endsWith('.md'));
  return new Map(files.map((file) => [basename(file, '.md'), samplesOf(readGuide(file))]));
}

/** Returns the Markdown of a guide, with the programs that it links as code blocks. */
function readGuide(file: string): string {
  const read = (path: string): string => readFileSync(join(GUIDES, path), 'utf8');
  const markdown = read(file);
  return markdown.replace(
    /^\[\w+\]\((samples\/.+\.(go|java|py|ts))\)$/gm,
    (_line, path: string, suffix: string) => `\`\`\`${suffix === 'py' ? 'python' : suffix}\n${read(path)}\`\`\``,
  );
}

/** Headings and code blocks; any other line only separates code blocks. */
const PARTS = /^#+ (?<title>.+)$|^```(?<language>\w+)(?<norun> norun)?\n(?<code>[^]*?)^```$|^.+$/gm;

function samplesOf(markdown: string): Sample[] {
  const samples: Sample[] = [];
  /** Consecutive code blocks: the same request in several languages. */
  let group: Sample[] = [];
  let groups = 0;
  let isOpen = false;
  let heading = '';
  for (const { groups: { title, language = '', norun, code } = {} } of markdown.matchAll(PARTS)) {
    heading = title ?? heading;
    if (code !== undefined && isLanguage(language)) {
      if (!isOpen) {
        group = [];
        groups++;
      }
      isOpen = true;
      if (norun !== undefined) continue;
      const sample = { language, heading, code, group: groups };
      group.push(sample);
      samples.push(sample);
    } else {
      isOpen = false;
      if (code !== undefined) for (const sample of group) addBlock(sample, language, code);
    }
  }
  return samples;
}

function addBlock(sample: Sample, kind: string, shown: string): void {
  if (sample.language === 'sh' && (kind === 'json' || kind === 'http')) sample[kind] = shown;
  if (sample.language !== 'sh' && kind === 'text') sample[kind] = shown;
}

function isLanguage(name: string): name is Language {
  return (LANGUAGES as readonly string[]).includes(name);
}
