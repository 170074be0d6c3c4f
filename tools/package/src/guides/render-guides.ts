import { posix } from 'node:path';
import hljs from 'highlight.js/lib/common';
import http from 'highlight.js/lib/languages/http';
import { Marked, Renderer, type Token, type Tokens } from 'marked';
import { headingId, HOME, pathOf } from './guide-sources.js';
import { escapeHtml, type GuidePage, type Heading, layOut, type NavigationGroup } from './guide-layout.js';

/** The page with the API reference instead of a table of contents. */
const REFERENCE = 'reference.md';
const GUIDES = 'docs/guides';
const OPENAPI = '../openapi.json';

/** Languages of samples. A sample is one request in several languages, in this order. */
const SAMPLES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', js: 'JavaScript', python: 'Python', go: 'Go' };
const CAPTIONS: Readonly<Record<string, string>> = { json: 'Response body', http: 'Response', text: 'Output' };

hljs.registerLanguage('http', http);
// The body of a response is JSON. By default, its language is guessed.
hljs.configure({ languages: ['json'] });

/** A highlighted code block. */
interface Sample {
  readonly language: string;
  readonly html: string;
}

/**
 * Renders the guides.
 * @param sources Markdown by path from docs/guides.
 * @param version Version of the API, shown on each page.
 * @returns HTML by file name
 * @throws if a page is not in the navigation, a link is dead, two headings of a page are equal, or a code block has an unknown language
 */
export function renderGuides(sources: ReadonlyMap<string, string>, version: string): ReadonlyMap<string, string> {
  const navigation = navigationOf(sources.get(HOME) ?? '');
  const pages = navigation.flatMap(({ pages }) => pages);
  const listed = [HOME, ...pages.map(({ file }) => file)].sort();
  if (listed.join() !== [...sources.keys()].sort().join()) throw new Error(`${HOME} must list every guide once: ${listed.join(', ')}`);
  const anchors = new Map([...sources].map(([file, markdown]) => [file, headingsOf(file, new Marked().lexer(markdown))]));
  return new Map(
    [...sources].map(([file, markdown]) => {
      const page: GuidePage = {
        path: pathOf(file),
        headings: anchors.get(file) ?? [],
        isReference: file === REFERENCE,
        ...render(file, markdown, anchors),
      };
      return [`${page.path || 'index'}.html`, layOut(page, navigation, version)];
    }),
  );
}

/** Returns the lists of links below the headings of the home page. */
function navigationOf(markdown: string): NavigationGroup[] {
  const groups: NavigationGroup[] = [];
  for (const token of new Marked().lexer(markdown)) {
    if (token.type === 'heading' && token['depth'] === 2) groups.push({ title: (token as Tokens.Heading).text, pages: [] });
    if (token.type !== 'list') continue;
    for (const { text } of (token as Tokens.List).items) {
      const [, title = '', file = ''] = /^\[([^\]]+)\]\(([^)]+)\)/.exec(text) ?? [];
      groups.at(-1)?.pages.push({ title, file, path: pathOf(file) });
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
): Pick<GuidePage, 'title' | 'description' | 'content'> {
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
      // Wide tables scroll, also with the keyboard.
      table(token) {
        const label = token.header.map(({ text }) => text.replaceAll('`', '')).join(', ');
        const table = String(Renderer.prototype.table.call(this, token));
        return `<div class="table" role="region" aria-label="${escapeHtml(`Table: ${label}`)}" tabindex="0">${table}</div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const heading = tokens.find((token): token is Tokens.Heading => token.type === 'heading');
  const paragraph = tokens.find((token): token is Tokens.Paragraph => token.type === 'paragraph');
  if (heading?.depth !== 1 || !paragraph) throw new Error(`${file} must begin with a title and a paragraph`);
  const samples = groupSamples(file, tokens);
  return {
    title: heading.text,
    description: paragraph.text.replace(/\[([^\]]+)\]\([^)]+\)|[`*]/g, '$1'),
    content: marked.parser(Object.assign(samples, { links: tokens.links })),
  };
}

/** Replaces code blocks by their HTML. Consecutive blocks of one sample become one group. */
function groupSamples(file: string, tokens: readonly Token[]): Token[] {
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
    const sample = sampleOf(file, token as Tokens.Code);
    const { language } = sample;
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

function sampleOf(file: string, { lang = '', text }: Tokens.Code): Sample {
  const [language = ''] = lang.split(' ');
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

function figure({ html }: Sample, caption: string, kind = ''): string {
  return `<figure class="code ${kind}"><figcaption class="caption">${caption}</figcaption>${html}</figure>\n`;
}

/** Returns the address of a link on the site. */
function addressOf(href: string, file: string, anchors: ReadonlyMap<string, readonly Heading[]>): string {
  if (/^https:/.test(href)) return href;
  const up = file === HOME ? '' : '../';
  if (href === OPENAPI) return `${up}openapi.json`;
  const [, path = '', id] = /^([^#]*)(?:#(.+))?$/.exec(href) ?? [];
  // The page of another folder links to the guides relative to its own folder.
  const target = path && posix.relative(GUIDES, posix.join(GUIDES, posix.dirname(file), path));
  const headings = anchors.get(target || file);
  if (!headings || (id !== undefined && !headings.some((heading) => heading.id === id)))
    throw new Error(`${file} has a dead link: ${href}`);
  const fragment = id === undefined ? '' : `#${id}`;
  if (target === '') return fragment;
  return target === HOME ? `${up}docs${fragment}` : `${file === HOME ? 'docs/' : ''}${pathOf(target)}${fragment}`;
}
