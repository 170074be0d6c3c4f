import { describe, expect, it } from '@jest/globals';
import type { CompletedRequest } from './api-promise.js';
import { PagePromise } from './page.js';

const completed = (body: unknown, link?: string): Promise<CompletedRequest> =>
  Promise.resolve({ response: new Response(null, link === undefined ? {} : { headers: { Link: link } }), body });

/** Returns the first of these pages. Each page links to the next one. */
function listOf(...pages: readonly (readonly string[])[]) {
  const requested: unknown[] = [];
  const request = (query: { cursor?: string }): PagePromise<string> => {
    requested.push(query);
    const place = Number(query.cursor ?? 0);
    const isLast = place === pages.length - 1;
    return new PagePromise<string>(completed(pages[place], isLast ? undefined : `</v1/pets?cursor=${place + 1}>; rel="next"`), request);
  };
  return { list: request({}), requested };
}

/** Returns the query of the next page for a `Link` header. */
async function nextQuery(link: string): Promise<object | undefined> {
  let query: object | undefined;
  const page = await new PagePromise<string>(completed([], link), (next) => {
    query = next;
    return new PagePromise<string>(completed([]), () => {
      throw new Error();
    });
  });
  if (page.hasNextPage()) await page.getNextPage();
  return query;
}

describe('a list', () => {
  it('is iterated over all pages, and each is requested when the loop reaches it', async () => {
    const { list, requested } = listOf(['A', 'B'], [], ['C']);
    const visited: [string, number][] = [];
    for await (const item of list) visited.push([item, requested.length]);
    expect(visited).toEqual([
      ['A', 1],
      ['B', 1],
      ['C', 3],
    ]);
  });

  it('is read page by page', async () => {
    const { list } = listOf(['A', 'B'], ['C']);
    const first = await list;
    expect([first.data, first.hasNextPage()]).toEqual([['A', 'B'], true]);
    const second = await first.getNextPage();
    expect([second.data, second.hasNextPage()]).toEqual([['C'], false]);
    expect(() => second.getNextPage()).toThrow('This is the last page: check hasNextPage() first');
  });

  it('can be iterated again from any page', async () => {
    const first = await listOf(['A'], ['B'], ['C']).list;
    const items: string[] = [];
    for await (const item of await first.getNextPage()) items.push(item);
    expect(items).toEqual(['B', 'C']);
  });

  it('rejects if a page fails', async () => {
    const error = new Error('reset');
    const list = new PagePromise<string>(completed(['A'], '<?cursor=1>; rel=next'), () => {
      throw error;
    });
    const items: string[] = [];
    await expect(
      (async () => {
        for await (const item of list) items.push(item);
      })(),
    ).rejects.toBe(error);
    expect(items).toEqual(['A']);
  });
});

describe('the link to the next page', () => {
  it.each([
    ['<https://store.example/v1/pets?limit=2&cursor=a%2Bb>; rel="next"', { limit: '2', cursor: 'a+b' }],
    ['</v1/pets?cursor=2>;rel=next', { cursor: '2' }],
    ['<?cursor=2>; REL="NEXT"', { cursor: '2' }],
    ['<?cursor=1>; rel="prev", <?cursor=2>; rel="next", <?cursor=3>; rel="last"', { cursor: '2' }],
    ['<?cursor=2>; rel="next", <?cursor=1>; rel="prev"', { cursor: '2' }],
    ['</v1/pets>; rel="next"', {}],
    ['</a.css>; rel=preload; as=style, <?cursor=2>; rel = "next"', { cursor: '2' }],
    ['<?cursor=1>; rel="next-archive"', undefined],
    ['<?cursor=1>; rel="prev"', undefined],
    ['<?cursor=1>; rel="nextcloud"', undefined],
    ['<?rel=next>; rel="prev"', undefined],
    ['?cursor=1; rel="next"', undefined],
    ['', undefined],
  ])('is found in %s', async (link, query) => {
    expect(await nextQuery(link)).toEqual(query);
  });

  it('that is not a URL rejects, so that no item is missed', async () => {
    await expect(nextQuery('<http://[>; rel="next"')).rejects.toMatchObject({ name: 'APIConnectionError' });
  });
});
