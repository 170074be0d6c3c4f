import { posix } from 'node:path';
import hljs from 'highlight.js/lib/common';
import http from 'highlight.js/lib/languages/http';
import { Marked, Renderer, type Token, type Tokens } from 'marked';
import { headingId, HOME, INDEX, isGuide, pathOf } from './guide-sources.js';
import { drawDiagram } from './draw-diagram.js';
import { escapeHtml, GITHUB, type GuidePage, type Heading, layOut, type NavigationGroup, type Versions } from './guide-layout.js';

/** The page with the API reference instead of a table of contents. */
const REFERENCE = 'docs/guides/reference.md';
const OPENAPI = 'docs/openapi.json';
const DECISION = /^docs\/adr\/\d/;
const PAGE = /^docs\/(?:adr\/|guides\/)?[\w-]+\.md$/;

/** Languages of samples. A sample is one request in several languages, in this order. */
const SAMPLES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', js: 'JavaScript', python: 'Python', go: 'Go' };
const CAPTIONS: Readonly<Record<string, string>> = { json: 'Response body', http: 'Response', text: 'Output' };
/** Captions on the other readers' pages, where a block is not a sample of the API. */
const OTHER_CAPTIONS: Readonly<Record<string, string>> = { sh: 'Terminal', ts: 'TypeScript', text: 'Text' };

hljs.registerLanguage('http', http);
// The body of a response is JSON. By default, its language is guessed.
hljs.configure({ languages: ['json'] });

/** The files of the diagrams of the pages, SVG by name. */
type Diagrams = Map<string, string>;

/** A highlighted code block. */
interface Sample {
  readonly language: string;
  readonly html: string;
}

/**
 * Renders the pages.
 * @param sources Markdown by path from the root of the workspace.
 * @param versions Shown on each page.
 * @returns HTML and SVG by file name
 * @throws if a page is not in the navigation, a link is dead, two headings of a page are equal, or a code block has an unknown language
 */
export function renderGuides(sources: ReadonlyMap<string, string>, versions: Versions): ReadonlyMap<string, string> {
  const navigation = navigationOf(sources);
  const listed = navigation.flatMap(({ pages }) => pages.map(({ file }) => file)).sort();
  const expected = [...sources.keys()].filter((file) => file !== HOME && !DECISION.test(file)).sort();
  if (listed.join() !== expected.join()) throw new Error(`${HOME} and ${INDEX} must list every page once: ${listed.join(', ')}`);
  const anchors = new Map([...sources].map(([file, markdown]) => [file, headingsOf(file, new Marked().lexer(markdown))]));
  const diagrams: Diagrams = new Map();
  const pages = [...sources].map(([file, markdown]): GuidePage => {
    const headings = anchors.get(file) ?? [];
    return { file, path: pathOf(file), headings, isReference: file === REFERENCE, ...render(file, markdown, anchors, diagrams) };
  });
  const files = new Map([...pages, NOT_FOUND].map((page) => [`${page.path || 'index'}.html`, layOut(page, navigation, versions)]));
  if (files.size !== pages.length + 1) throw new Error('Two pages have the same path');
  return new Map([...files, ...diagrams]);
}

/** The page for unknown paths. */
const NOT_FOUND: GuidePage = {
  path: 'not-found',
  title: 'Page not found',
  description: 'There is no page with this address.',
  headings: [],
  content:
    '<h1>Page not found</h1>\n<p>There is no page with this address. Search the documentation, or choose a page of the navigation.</p>\n',
  isReference: false,
};

/** Returns the lists of links below the headings of the home page and of the index. A page is listed where it is first linked. */
function navigationOf(sources: ReadonlyMap<string, string>): NavigationGroup[] {
  const groups = [HOME, INDEX].flatMap((file) => groupsOf(file, sources));
  groups.at(-1)?.pages.push({ title: 'All documents', file: INDEX, path: pathOf(INDEX) });
  const seen = new Set<string>();
  return groups
    .map(({ title, pages }) => ({ title, pages: pages.filter(({ file }) => !seen.has(file) && seen.add(file)) }))
    .filter(({ pages }) => pages.length > 0);
}

function groupsOf(index: string, sources: ReadonlyMap<string, string>): NavigationGroup[] {
  const groups: NavigationGroup[] = [];
  for (const token of new Marked().lexer(sources.get(index) ?? '')) {
    if (token.type === 'heading' && token['depth'] === 2) groups.push({ title: (token as Tokens.Heading).text, pages: [] });
    if (token.type !== 'list') continue;
    for (const [, title = '', path = ''] of token.raw.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)) {
      const file = posix.join(posix.dirname(index), path);
      const markdown = sources.get(file);
      if (markdown === undefined || file === HOME) continue;
      groups.at(-1)?.pages.push({ title: index === HOME ? title : (/^# (.+)$/m.exec(markdown)?.[1] ?? title), file, path: pathOf(file) });
    }
  }
  return groups;
}

function headingsOf(file: string, tokens: readonly Token[]): Heading[] {
  const headings = tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading' && (token as Tokens.Heading).depth > 1)
    .map(({ text, depth }) => ({ text: text.replaceAll('`', ''), depth, id: headingId(text), isCode: text.startsWith('`') }));
  const ids = headings.map(({ id }) => id);
  const duplicate = ids.find((id, index) => ids.indexOf(id) !== index);
  if (duplicate !== undefined) throw new Error(`${file} has two headings #${duplicate}`);
  return headings;
}

function render(
  file: string,
  markdown: string,
  anchors: ReadonlyMap<string, readonly Heading[]>,
  diagrams: Diagrams,
): Pick<GuidePage, 'title' | 'description' | 'content'> {
  // Landmarks need unique names.
  let tables = 0;
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }) {
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        const id = headingId(text);
        const label = escapeHtml(`Copy the link to ${text.replaceAll('`', '')}`);
        return `<div class="heading"><h${depth} id="${id}">${content}</h${depth}><a class="anchor" href="#${id}" aria-label="${label}">#</a></div>\n`;
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(addressOf(href, file, anchors))}">${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, text }) {
        return image(file, posix.basename(href), text);
      },
      // Only of blocks in lists: groupSamples has replaced the others.
      code(token) {
        return otherFigure(sampleOf(file, token));
      },
      // Wide tables scroll, also with the keyboard.
      table(token) {
        const name = token.header.map(({ text }) => text.replaceAll('`', '')).join(', ');
        const label = `Table ${++tables}: ${name}`;
        const table = String(Renderer.prototype.table.call(this, token));
        return `<div class="table" role="region" aria-label="${escapeHtml(label)}" tabindex="0">${table}</div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const heading = tokens.find((token): token is Tokens.Heading => token.type === 'heading');
  const paragraph = tokens.find((token): token is Tokens.Paragraph => token.type === 'paragraph');
  if (heading?.depth !== 1 || !paragraph) throw new Error(`${file} must begin with a title and a paragraph`);
  const samples = groupSamples(file, tokens, diagrams);
  return {
    title: heading.text,
    description: paragraph.text.replace(/\[([^\]]+)\]\([^)]+\)|[`*]/g, '$1'),
    content: marked.parser(Object.assign(samples, { links: tokens.links })),
  };
}

/** Replaces code blocks by their HTML. Consecutive blocks of one sample become one group. */
function groupSamples(file: string, tokens: readonly Token[], diagrams: Diagrams): Token[] {
  const result: Token[] = [];
  let group: Sample[] = [];
  let groups = 0;
  const html = (text: string): Tokens.HTML => ({ type: 'html', raw: text, text, block: true, pre: false });
  const flush = (): void => {
    if (group.length > 0) result.push(html(sampleGroup(group, `sample-${++groups}`)));
    group = [];
  };
  let hasCurl = false;
  for (const token of tokens) {
    if (token.type === 'space') continue;
    if (token.type !== 'code') {
      flush();
      result.push(token);
      continue;
    }
    if ((token as Tokens.Code).lang === 'mermaid') {
      flush();
      result.push(html(diagram(file, token as Tokens.Code, diagrams)));
      continue;
    }
    const sample = sampleOf(file, token as Tokens.Code);
    const { language } = sample;
    if (!isGuide(file)) {
      result.push(html(otherFigure(sample)));
      continue;
    }
    if (SAMPLES[language] !== undefined) {
      // A repeated language starts the next sample.
      if (group.some((other) => other.language === language)) flush();
      group.push(sample);
      hasCurl = group[0]?.language === 'sh';
      continue;
    }
    flush();
    // The output of programs is hidden while curl is selected.
    result.push(html(figure(sample, CAPTIONS[language] ?? '', language === 'text' && hasCurl ? 'output of-programs' : 'output')));
  }
  flush();
  return result;
}

/** Returns the image element for an asset. The home page is one folder above the others. */
function image(file: string, name: string, description: string): string {
  return `<img src="${file === HOME ? 'docs/' : ''}assets/${name}" alt="${escapeHtml(description)}" />`;
}

/** Returns the picture of a Mermaid diagram, which scrolls if it is wide, and its text for screen readers and searches. */
function diagram(file: string, { text }: Tokens.Code, diagrams: Diagrams): string {
  const prefix = `diagram-${pathOf(file) || 'index'}-`;
  const number = [...diagrams.keys()].filter((name) => name.startsWith(prefix)).length + 1;
  const title = `Diagram ${number}`;
  const name = `${prefix}${number}.svg`;
  diagrams.set(name, drawDiagram(text));
  const picture = `<div class="table" role="region" aria-label="${title}" tabindex="0">${image(file, name, `${title}, described below`)}</div>`;
  const description = `<details><summary class="caption">${title} as text</summary><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></details>`;
  return `<figure class="code">${picture}\n${description}</figure>\n`;
}

function sampleOf(file: string, { lang = '', text }: Tokens.Code): Sample {
  const [language = ''] = (isGuide(file) ? lang : lang || 'text').split(' ');
  if (!hljs.getLanguage(language)) throw new Error(`${file} has a code block in the unknown language "${language}"`);
  return { language, html: `<pre tabindex="0"><code>${hljs.highlight(text, { language }).value}</code></pre>` };
}

function sampleGroup(samples: readonly Sample[], id: string): string {
  const [only] = samples;
  if (samples.length === 1 && only) return figure(only, only.language === 'sh' ? 'Terminal' : (SAMPLES[only.language] ?? ''));
  const tabs = samples.map(
    ({ language }, index) =>
      `<button type="button" role="tab" id="${id}-${language}-tab" aria-controls="${id}-${language}" aria-selected="${index === 0}" tabindex="${index === 0 ? 0 : -1}" data-language="${language}">${SAMPLES[language]}</button>`,
  );
  const panels = samples.map(
    ({ language, html }, index) =>
      `<div role="tabpanel" id="${id}-${language}" aria-labelledby="${id}-${language}-tab" data-caption="${SAMPLES[language]}"${index === 0 ? '' : ' hidden'}>${html}</div>`,
  );
  return `<div class="code samples"><div class="caption" role="tablist" aria-label="Language">${tabs.join('')}</div>\n${panels.join('\n')}</div>\n`;
}

function otherFigure(sample: Sample): string {
  return figure(sample, OTHER_CAPTIONS[sample.language] ?? sample.language.toUpperCase());
}

function figure({ html }: Sample, caption: string, kind = ''): string {
  return `<figure class="code ${kind}"><figcaption class="caption">${caption}</figcaption>${html}</figure>\n`;
}

/** Returns the address of a link on the site. A link to a file that is not a page leads to GitHub. */
function addressOf(href: string, file: string, anchors: ReadonlyMap<string, readonly Heading[]>): string {
  if (/^https?:/.test(href)) return href;
  const [, path = '', id] = /^([^#]*)(?:#(.+))?$/.exec(href) ?? [];
  const target = path === '' ? file : posix.join(posix.dirname(file), path);
  if (target === OPENAPI) return `${file === HOME ? '' : '../'}openapi.json`;
  const fragment = id === undefined ? '' : `#${id}`;
  const headings = anchors.get(target);
  const isDead = headings ? id !== undefined && !headings.some((heading) => heading.id === id) : PAGE.test(target);
  if (isDead) throw new Error(`${file} has a dead link: ${href}`);
  if (!headings) return `${GITHUB}/blob/main/${target}${fragment}`;
  if (path === '') return fragment;
  if (target === HOME) return `${file === HOME ? '' : '../'}docs${fragment}`;
  return `${file === HOME ? 'docs/' : ''}${pathOf(target)}${fragment}`;
}
