import { expect, it } from '@jest/globals';
import MiniSearch, { type Options } from 'minisearch';
import { renderSearchIndex } from './search-index.js';

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
  const module = renderSearchIndex(new Map([['pages.md', GUIDE]]), { paths: { '/pets': { get: OPERATION } } });
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
