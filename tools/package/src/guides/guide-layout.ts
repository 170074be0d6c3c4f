export interface Heading {
  readonly text: string;
  readonly depth: number;
  readonly id: string;
  readonly isCode: boolean;
}

/** The versions of the API and of the service. */
export interface Versions {
  readonly api: string;
  readonly service: string;
}

/** A page below `/docs`. The path of the home page is empty. */
export interface GuidePage {
  /** The path of its Markdown from the root of the workspace. Without it, the page is for unknown paths. */
  readonly file?: string;
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly headings: readonly Heading[];
  /** HTML. */
  readonly content: string;
  readonly isReference: boolean;
}

export interface NavigationGroup {
  readonly title: string;
  readonly pages: { readonly title: string; readonly file: string; readonly path: string }[];
}

// Below the baseline, in line with the text.
const icon = (shape: string): string =>
  `<svg viewBox="0 -2 16 16" overflow="visible" width="16" height="16" fill="none" stroke="currentColor" aria-hidden="true">${shape}</svg>`;
const SEARCH_ICON = icon('<circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" />');
const THEME_ICON = icon('<circle cx="8" cy="8" r="6" /><path fill="currentColor" d="M8 2a6 6 0 0 1 0 12Z" />');

const SITE = 'Animal Store API';
export const GITHUB = 'https://github.com/animal-store/animal-store';
/** The service replaces it by the absolute path of /docs in the page for unknown paths, which may be any number of folders deep. */
const DOCS_PATH = '{docs}';

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns the page as an HTML document. Its links are relative, so that it also works below a base path. */
export function layOut(page: GuidePage, navigation: readonly NavigationGroup[], versions: Versions): string {
  const isHome = page.path === '';
  const isUnknown = page.file === undefined;
  const below = isUnknown ? `${DOCS_PATH}/` : isHome ? 'docs/' : '';
  const home = isUnknown ? DOCS_PATH : isHome ? 'docs' : '../docs';
  const title = isHome ? `${SITE} documentation` : `${page.title} · ${SITE}`;
  const kind = isHome ? 'home' : page.isReference ? 'reference' : 'guide';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)}</title>
    <meta name="description" content="${escapeHtml(page.description)}" />
    <link rel="icon" href="${below}assets/favicon.svg" type="image/svg+xml" />
${page.isReference ? `    <link rel="stylesheet" href="${below}assets/swagger-ui.css" />\n` : ''}    <link rel="stylesheet" href="${below}assets/docs.css" />
${page.isReference ? `    <link rel="stylesheet" href="${below}assets/reference.css" />\n` : ''}    <script src="${below}assets/preferences.js"></script>
    <script src="${below}assets/docs.js" type="module"></script>
    <script src="${below}assets/search.js" type="module"></script>
  </head>
  <body class="${kind}">
    <a class="skip" href="#content">Skip to the content</a>
    <header class="site">
      <a class="brand" href="${home}"><img src="${below}assets/favicon.svg" alt="" width="28" height="28" /><span><b>Animal Store</b> API ${escapeHtml(versions.api)}</span></a>
      <button type="button" class="search">${SEARCH_ICON} <span>Search</span> <kbd>/</kbd> <kbd>Ctrl K</kbd></button>
      <button type="button" class="menu" popovertarget="navigation">Menu</button>
      <button type="button" class="theme">${THEME_ICON} <span>Dark mode</span></button>
      <a class="to-reference" href="${below}reference">API reference</a>
    </header>
    <dialog aria-label="Search" closedby="any">
      <div><input type="search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" /><button type="button">Close</button></div>
      <p role="status"></p>
      <ol></ol>
    </dialog>
    <div class="columns">
      <nav id="navigation" popover aria-label="Documentation">
${navigation.map((group) => navigationGroup(group, page, below)).join('\n')}
      </nav>
      <main id="content" tabindex="-1">
${withContents(page)}${page.isReference ? REFERENCE : ''}${isHome ? '' : neighbours(page, navigation)}${footer(page, versions)}      </main>
${hasContents(page) ? contents(page) : ''}    </div>
${page.isReference ? `    <script src="${below}assets/swagger-ui-bundle.js"></script>\n    <script src="${below}assets/reference.js" type="module"></script>\n` : ''}  </body>
</html>
`;
}

const REFERENCE = `<div id="reference"><noscript><p>The reference needs JavaScript.</p></noscript></div>
`;

function navigationGroup({ title, pages }: NavigationGroup, current: GuidePage, below: string): string {
  const links = pages.map(
    ({ title, path }) => `<li><a href="${below}${path}"${path === current.path ? ' aria-current="page"' : ''}>${title}</a></li>`,
  );
  return `        <p>${title}</p>\n        <ul>${links.join('')}</ul>`;
}

function hasContents({ path, headings, isReference }: GuidePage): boolean {
  return path !== '' && !isReference && headings.length > 0;
}

function contentsList({ headings }: GuidePage): string {
  const links = headings.map(
    ({ text, depth, id, isCode }) =>
      `<li class="depth-${depth}"><a href="#${id}">${isCode ? `<code>${escapeHtml(text)}</code>` : escapeHtml(text)}</a></li>`,
  );
  return `<ul>${links.join('')}</ul>`;
}

function contents(page: GuidePage): string {
  return `      <nav class="contents" aria-label="On this page"><p>On this page</p>${contentsList(page)}</nav>\n`;
}

/** Adds the table of contents below the title, for screens that have no space beside the text. */
function withContents(page: GuidePage): string {
  if (!hasContents(page)) return page.content;
  return page.content.replace('</h1>\n', (end) => `${end}<details><summary>On this page</summary>${contentsList(page)}</details>\n`);
}

function footer({ file }: GuidePage, { api, service }: Versions): string {
  const edit = file === undefined ? '' : `<a href="${GITHUB}/edit/main/${file}">Edit this page</a>`;
  return `<footer>${edit}<span>API ${escapeHtml(api)}, service ${escapeHtml(service)}</span></footer>\n`;
}

/** Returns links to the previous and the next page. */
function neighbours({ path }: GuidePage, navigation: readonly NavigationGroup[]): string {
  const pages = navigation.flatMap(({ pages }) => pages);
  const index = pages.findIndex((page) => page.path === path);
  // Decisions are only listed on their own page.
  if (index === -1) return '';
  const link = (page: (typeof pages)[number] | undefined, rel: string, label: string): string =>
    page ? `<a rel="${rel}" href="${page.path}">${label}: ${page.title}</a>` : '';
  return `<nav class="neighbours" aria-label="Previous and next">${link(pages[index - 1], 'prev', 'Previous')}${link(pages[index + 1], 'next', 'Next')}</nav>\n`;
}
