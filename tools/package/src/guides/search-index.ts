import { Marked, type Token, type Tokens } from 'marked';
import MiniSearch, { type Options } from 'minisearch';
import { CLIENT, headingId, HOME, INDEX, isGuide, pathOf } from './guide-sources.js';

/** The part of docs/openapi.json that is searched. */
export interface SearchedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, SearchedOperation>>>>;
}

interface SearchedOperation {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
}

/** A section of a page: a search result. */
interface Section {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** URL below `/docs/`. */
  readonly url: string;
  /** The pages for callers of the API come first. */
  readonly weight: number;
}

/** Options of MiniSearch, which the page needs to load the index. */
const OPTIONS = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading', 'text', 'url', 'weight'],
} satisfies Options<Section>;

/** Returns the module that the pages import: the options and the serialised index of all sections and operations. */
export function renderSearchIndex(sources: ReadonlyMap<string, string>, document: SearchedDocument): string {
  const index = new MiniSearch<Section>(OPTIONS);
  const sections = [...[...sources].flatMap(([file, markdown]) => sectionsOf(file, markdown)), ...operationsOf(document)];
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  return `export const options = ${JSON.stringify(OPTIONS)};\nexport const index = ${JSON.stringify(index)};\n`;
}

/** Returns the text below each heading, without code blocks. */
function sectionsOf(file: string, markdown: string): Section[] {
  // These only link to the others.
  if (file === HOME || file === INDEX) return [];
  const sections: { heading: string; id: string; texts: string[] }[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type !== 'heading') sections.at(-1)?.texts.push(textOf(token));
    else sections.push({ heading: textOf(token), id: headingId((token as Tokens.Heading).text), texts: [] });
  }
  const page = file === CLIENT ? 'TypeScript client' : (sections[0]?.heading ?? '');
  return sections.map(({ heading, id, texts }, index) => ({
    page,
    heading: index === 0 ? '' : heading,
    text: texts.join(' ').replace(/\s+/g, ' ').trim(),
    url: index === 0 ? pathOf(file) : `${pathOf(file)}#${id}`,
    weight: isGuide(file) ? 5 : 1,
  }));
}

/** Returns the operations, with links that open them in the reference. */
function operationsOf({ paths }: SearchedDocument): Section[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, tags = [], summary = '', description = '' }]) => ({
      page: 'API reference',
      heading: operationId,
      text: `${method.toUpperCase()} /v1${path}. ${summary}. ${description.replaceAll('`', '')}`,
      url: `reference#/${tags[0] ?? 'default'}/${operationId}`,
      weight: 5,
    })),
  );
}

function textOf(token: Token): string {
  if (['code', 'html', 'space', 'hr'].includes(token.type)) return '';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].map((row) => row.map(({ tokens }) => tokens.map(textOf).join('')).join(' ')).join('. ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(textOf).join(' ');
  if (token.type === 'br') return ' ';
  if ('tokens' in token) return token.tokens.map(textOf).join('');
  return (token as Tokens.Text).text;
}
