import { describe, expect, it } from '@jest/globals';
import MiniSearch, { type Options } from 'minisearch';
import { includePrograms } from './guide-sources.js';
import { renderGuides } from './render-guides.js';
import { renderSearchIndex } from './search-index.js';

const HOME = '# Home\n\nWelcome.\n\n## Start\n\n- [First](first.md)\\\n  Begin here.\n- [Second](second.md)\\\n  Go on.\n';
const INDEX = '# Documents\n\nAll.\n\n## Team\n\n- The [decisions](adr/README.md), and the [guides](guides/README.md)\n';
const SECOND = '# Second\n\nText.\n\n## A `code` & more\n\nText.\n';

/** Renders a home page and two guides. The first guide has this content. */
function render(first: string, others: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> {
  const sources = {
    'docs/guides/README.md': HOME,
    'docs/README.md': INDEX,
    'docs/guides/first.md': `# First\n\nText.\n\n${first}`,
    'docs/guides/second.md': SECOND,
    'docs/adr/README.md': '# Decisions\n\n[One](0001-one.md)\n',
    'docs/adr/0001-one.md': '# One\n\nText.\n\n```text\n1\n```\n',
    ...others,
  };
  return renderGuides(new Map(Object.entries(sources)), { api: '1.2.3', service: '4.5.6' });
}

const first = (markdown: string): string => render(markdown).get('first.html') ?? '';

describe('renderGuides', () => {
  it('renders each page with its title, description and navigation', () => {
    const pages = render('');
    expect([...pages.keys()].sort()).toEqual([
      'adr-0001-one.html',
      'decisions.html',
      'documents.html',
      'first.html',
      'index.html',
      'not-found.html',
      'second.html',
    ]);
    expect(pages.get('second.html')).toContain('<title>Second · Animal Store API</title>');
    expect(pages.get('second.html')).toContain('<meta name="description" content="Text." />');
    expect(pages.get('second.html')).toContain(
      '<li><a href="first">First</a></li><li><a href="second" aria-current="page">Second</a></li>',
    );
    expect(pages.get('second.html')).toContain('<a rel="prev" href="first">');
    expect(pages.get('second.html')).toContain('<b>Animal Store</b> API 1.2.3');
    expect(pages.get('adr-0001-one.html')).toContain(
      '<p>Team</p>\n        <ul><li><a href="decisions">Decisions</a></li><li><a href="documents">All documents</a></li></ul>',
    );
  });

  it('links each page to its source on GitHub, and names the versions of API and service', () => {
    expect(render('').get('adr-0001-one.html')).toContain(
      '<footer><a href="https://github.com/animal-store/animal-store/edit/main/docs/adr/0001-one.md">Edit this page</a><span>API 1.2.3, service 4.5.6</span></footer>',
    );
  });

  it('links between pages of different folders, and to GitHub for other files', () => {
    expect(first('[one](../adr/0001-one.md), [code](../../libs/kernel#x)')).toContain(
      '<a href="adr-0001-one">one</a>, <a href="https://github.com/animal-store/animal-store/blob/main/libs/kernel#x">code</a>',
    );
    expect(render('').get('decisions.html')).toContain('<a href="adr-0001-one">One</a>');
  });

  it('draws a diagram, and also shows its text', () => {
    const files = render('```mermaid\nflowchart TB\n  one[First] --> two\n```\n');
    expect(files.get('first.html')).toContain('<img src="assets/diagram-first-1.svg" alt="Diagram 1, described below" />');
    expect(files.get('first.html')).toContain('one[First] --&gt; two');
    const svg = files.get('diagram-first-1.svg');
    expect(svg).toMatch(/<text [^>]+>First<\/text>/);
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg?.match(/url\([^#]|https?:(?!\/\/www\.w3\.org)/g)).toBeNull();
  });

  it('shows the code of the pages for other readers without the captions and tabs of samples', () => {
    expect(render('').get('adr-0001-one.html')).toContain('<figcaption class="caption">Text</figcaption>');
    expect(first('1. Run it:\n\n   ```sh\n   curl\n   ```\n')).toContain(
      '<figcaption class="caption">Terminal</figcaption><pre tabindex="0">',
    );
  });

  it('writes relative links, which work below a base path', () => {
    expect(first('[home](README.md), [part](second.md#a-code--more), [document](../openapi.json), [own](#own)\n\n## Own\n')).toContain(
      '<a href="../docs">home</a>, <a href="second#a-code--more">part</a>, <a href="../openapi.json">document</a>, <a href="#own">own</a>',
    );
    expect(render('').get('index.html')).toContain('<a href="docs/first">First</a>');
  });

  it('adds the anchors of GitHub to headings, and lists them', () => {
    const page = render('').get('second.html');
    expect(page).toContain('<h2 id="a-code--more">A <code>code</code> &amp; more</h2><a class="anchor" href="#a-code--more"');
    expect(page).toContain('<a href="#a-code--more">A code &amp; more</a>');
  });

  it('groups consecutive samples in tabs, and escapes them', () => {
    const page = first('```sh\ncurl <url>\n```\n\n```js\nawait fetch(1 < 2)\n```\n\n```sh\ncurl\n```\n');
    expect(page.match(/role="tablist"/g)).toHaveLength(1);
    expect(page.match(/role="tab" /g)).toHaveLength(2);
    expect(page).toContain('curl &lt;url&gt;');
    expect(page).toContain('<figcaption class="caption">Terminal</figcaption>');
  });

  it('shows linked programs as tabs', () => {
    const links = ['[JavaScript](samples/list-pets.js)', '[Python](samples/list-pets.py)', '[Go](samples/list-pets.go)'];
    const sample = includePrograms(`\`\`\`sh\ncurl\n\`\`\`\n\n${links.join('\n\n')}\n`, (path) => `"${path}"\n`);
    const page = first(sample);
    expect([...page.matchAll(/role="tab" [^>]*>(\w+)</g)].map(([, name]) => name)).toEqual(['curl', 'JavaScript', 'Python', 'Go']);
    expect(page).toContain('<span class="hljs-string">&quot;samples/list-pets.go&quot;</span>');
  });

  it('hides the output of programs while curl is selected, but only if there is a curl sample', () => {
    const output = '```text\n1\n```\n';
    expect(first(`\`\`\`sh\ncurl\n\`\`\`\n\n\`\`\`js\n1;\n\`\`\`\n\n${output}`)).toContain('output of-programs');
    expect(first(`\`\`\`js\n1;\n\`\`\`\n\n${output}`)).not.toContain('of-programs');
  });

  it.each([
    ['a link to a missing page', '[x](third.md)', 'docs/guides/first.md has a dead link: third.md'],
    ['a link to a missing heading', '[x](second.md#third)', 'docs/guides/first.md has a dead link: second.md#third'],
    ['a link to a missing heading of the same page', '[x](#third)', 'docs/guides/first.md has a dead link: #third'],
    ['a link to a missing page of another folder', '[x](../none.md)', 'docs/guides/first.md has a dead link: ../none.md'],
    ['two equal headings', '## A\n\n## A\n', 'docs/guides/first.md has two headings #a'],
    ['an unknown language', '```cobol\nSTOP RUN.\n```\n', 'docs/guides/first.md has a code block in the unknown language "cobol"'],
  ])('rejects %s', (_what, markdown, message) => {
    expect(() => render(markdown)).toThrow(message);
  });

  it('rejects a page that is not in the navigation', () => {
    expect(() => render('', { 'docs/third.md': SECOND })).toThrow('docs/README.md must list every page once');
  });

  it('rejects a page without a title and a first paragraph', () => {
    expect(() => render('', { 'docs/guides/second.md': '## Second\n' })).toThrow(
      'docs/guides/second.md must begin with a title and a paragraph',
    );
  });
});

describe('renderSearchIndex', () => {
  const GUIDE = `# Pages

Lists have **pages**.

## The \`limit\`

At most [100](errors.md) animals.

| Name    | Meaning |
| ------- | ------- |
| \`limit\` | Maximum |

- One item

\`\`\`sh
curl ignored
\`\`\`
`;
  const OPERATION = { operationId: 'listPets', tags: ['pets'], summary: 'List all animals', description: 'By `status`.' };

  async function search(query: string): Promise<object[]> {
    const module = renderSearchIndex(new Map([['docs/guides/pages.md', GUIDE]]), { paths: { '/pets': { get: OPERATION } } });
    const { index, options } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as { index: never; options: Options };
    return MiniSearch.loadJS(index, options).search(query);
  }

  it('finds the section of a page, without its code blocks', async () => {
    const section = {
      page: 'Pages',
      heading: 'The limit',
      text: 'At most 100 animals. Name Meaning. limit Maximum One item',
      url: 'pages#the-limit',
    };
    expect(await search('maximum')).toEqual([expect.objectContaining(section)]);
    expect(await search('lists')).toMatchObject([{ heading: '', text: 'Lists have pages.', url: 'pages' }]);
    expect(await search('ignored')).toEqual([]);
  });

  it('finds an operation', async () => {
    expect(await search('listPets')).toMatchObject([
      { page: 'API reference', text: 'GET /v1/pets. List all animals. By status.', url: 'reference#/pets/listPets' },
    ]);
  });
});
