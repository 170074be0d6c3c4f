export interface Heading {
  readonly text: string;
  readonly depth: number;
  readonly id: string;
  readonly isCode: boolean;
}

/** A guide below `/docs`. The path of the home page is empty. */
export interface GuidePage {
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

const icon = (shape: string): string =>
  `<svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" aria-hidden="true">${shape}</svg>`;
const SEARCH_ICON = icon('<circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" />');
const THEME_ICON = icon('<circle cx="8" cy="8" r="6" /><path fill="currentColor" d="M8 2a6 6 0 0 1 0 12Z" />');

const SITE = 'Animal Store API';

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Returns the page as an HTML document. Its links are relative, so that it also works below a base path. */
export function layOut(page: GuidePage, navigation: readonly NavigationGroup[], version: string): string {
  const isHome = page.path === '';
  const below = isHome ? 'docs/' : '';
  const home = isHome ? 'docs' : '../docs';
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
      <a class="brand" href="${home}"><img src="${below}assets/favicon.svg" alt="" width="28" height="28" /><span><b>Animal Store</b> API ${escapeHtml(version)}</span></a>
      <button type="button" class="search">${SEARCH_ICON} <span>Search</span> <kbd>/</kbd></button>
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
${page.content}${page.isReference ? REFERENCE : ''}${isHome ? '' : neighbours(page, navigation)}      </main>
${page.isReference || isHome ? '' : contents(page)}    </div>
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

function contents({ headings }: GuidePage): string {
  const links = headings.map(
    ({ text, depth, id, isCode }) =>
      `<li class="depth-${depth}"><a href="#${id}">${isCode ? `<code>${text}</code>` : escapeHtml(text)}</a></li>`,
  );
  return `      <nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav>\n`;
}

/** Returns links to the previous and the next page. */
function neighbours({ path }: GuidePage, navigation: readonly NavigationGroup[]): string {
  const pages = navigation.flatMap(({ pages }) => pages);
  const index = pages.findIndex((page) => page.path === path);
  const link = (page: (typeof pages)[number] | undefined, rel: string, label: string): string =>
    page ? `<a rel="${rel}" href="${page.path}">${label}: ${page.title}</a>` : '';
  return `<nav class="neighbours" aria-label="Previous and next">${link(pages[index - 1], 'prev', 'Previous')}${link(pages[index + 1], 'next', 'Next')}</nav>\n`;
}
