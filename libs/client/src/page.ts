import { APIPromise, type CompletedRequest } from './api-promise.js';
import { APIConnectionError } from './errors.js';

/** A link: its target in angle brackets, then its parameters with values that may be quoted strings. */
const LINK = /<([^<>]*)>((?:[^<",]|"(?:[^"\\]|\\.)*"?)*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"?|([^\s;,"]*))/g;

/** A page of a list. Iteration visits its items and those of all following pages. */
export class Page<T> implements AsyncIterable<T> {
  constructor(
    readonly data: readonly T[],
    private readonly requestNext: (() => PagePromise<T>) | undefined,
  ) {}

  hasNextPage(): boolean {
    return this.requestNext !== undefined;
  }

  /** Requests the next page. Throws if this is the last page. */
  getNextPage(): PagePromise<T> {
    if (!this.requestNext) throw new Error('This is the last page: check hasNextPage() first');
    return this.requestNext();
  }

  /** Iterates over this page and all following pages. */
  iterPages(): AsyncGenerator<Page<T>, void, undefined> {
    return pagesFrom(this);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.iterPages()) yield* page.data;
  }
}

async function* pagesFrom<T>(first: Page<T>): AsyncGenerator<Page<T>, void, undefined> {
  let page = first;
  yield page;
  while (page.hasNextPage()) {
    page = await page.getNextPage();
    yield page;
  }
}

/** A promise of a page. Iteration visits its items and those of all following pages. */
export class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
  constructor(completed: Promise<CompletedRequest>, requestNext: (query: object) => PagePromise<T>) {
    super(completed, ({ body, response }) => {
      const query = nextQuery(response.headers.get('Link') ?? '');
      return new Page(body as T[], query && (() => requestNext(Object.fromEntries(query))));
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}

/**
 * Returns the query of the link to the next page (RFC 8288). The rest of the URL is ignored: the client sends the API key only to
 * `baseURL`, and behind a proxy the service may not know that URL.
 */
function nextQuery(header: string): URLSearchParams | undefined {
  const target = findNext(header);
  if (target === undefined) return undefined;
  if (!URL.canParse(target, 'http://localhost')) throw new APIConnectionError('The link to the next page is not a URL');
  return new URL(target, 'http://localhost').searchParams;
}

function findNext(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(LINK)) {
    const types = [...parameters.matchAll(PARAMETER)].find(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (types?.[2] ?? types?.[3] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target;
  }
  return undefined;
}
