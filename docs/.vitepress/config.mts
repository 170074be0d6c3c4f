import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig } from 'vitepress';

const SOURCES = 'https://github.com/animal-store/animal-store/blob/main/';
const link = (text: string, path: string) => ({ text, link: `/${path}` });

/** Returns the anchor of a heading, the same as on GitHub. */
function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

/** Replaces adjacent links to programs, such as `[Go](samples/list-pets.go)`, by a group of code blocks. */
function includeSamples(markdown: string): string {
  return markdown.replaceAll(/(?:^\[\w+\]\(samples\/[\w.-]+\)$\n*)+/gm, (group) => {
    const samples = [...group.matchAll(/^\[(\w+)\]\((samples\/[\w-]+\.(\w+))\)$/gm)];
    const blocks = samples.map(
      ([, name, path, language]) =>
        `\`\`\`${language} [${name}]\n${readFileSync(new URL(`../guides/${path}`, import.meta.url), 'utf8')}\`\`\``,
    );
    return `::: code-group\n\n${blocks.join('\n\n')}\n\n:::\n\n`;
  });
}

// `npx nx site checks` writes the site to docs/.vitepress/dist, for any host, and fails on dead links.
export default defineConfig({
  title: 'Animal Store',
  base: process.env['DOCS_BASE'] ?? '/',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  ignoreDeadLinks: [/openapi\.json$|localhost/],
  markdown: {
    anchor: { slugify },
    config: (md) => {
      md.core.ruler.before('normalize', 'samples', (state) => {
        state.src = includeSamples(state.src);
      });
      md.core.ruler.push('sources', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href');
          const folder = posix.dirname((env as { relativePath: string }).relativePath);
          const path = posix.join('docs', folder, href ?? '');
          if (href?.startsWith('../') && !path.startsWith('docs/')) token.attrSet('href', SOURCES + path);
        }
      });
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [link('API', 'guides/'), link('All documents', '')],
    sidebar: [
      {
        text: 'Call the API',
        items: ['quickstart', 'what-you-can-do', 'authentication', 'pagination', 'errors', 'safe-retries', 'rate-limits', 'limits'].map(
          (page) => link(page.replaceAll('-', ' '), `guides/${page}`),
        ),
      },
    ],
  },
});
