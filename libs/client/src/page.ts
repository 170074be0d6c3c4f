import { APIPromise, type CompletedRequest } from './api-promise.js';
import { AnimalStoreError } from './errors.js';

/** A page of a list. Iterating over it continues with the following pages. */
export class Page<T> implements AsyncIterable<T> {
  constructor(
    readonly data: readonly T[],
    private readonly requestNext: (() => PagePromise<T>) | undefined,
  ) {}

  hasNextPage(): boolean {
    return this.requestNext !== undefined;
  }

  /** Requests the next page. Throws if this is the last one. */
  getNextPage(): PagePromise<T> {
    if (!this.requestNext) throw new AnimalStoreError('This is the last page: check hasNextPage() first');
    return this.requestNext();
  }

  /** Iterates over this page and all pages after it. */
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

/** A promise of the first page. Iterating over it visits the items of all pages. */
export class PagePromise<T> extends APIPromise<Page<T>> implements AsyncIterable<T> {
  constructor(completed: Promise<CompletedRequest>, requestNext: (query: object) => PagePromise<T>) {
    super(completed, ({ body, link }) => {
      const query = nextQuery(link);
      return new Page(body as T[], query && (() => requestNext(query)));
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* await this;
  }
}

/**
 * Returns the query of the link to the next page (RFC 8288). The rest of the URL is ignored: the API key is sent only to `baseURL`, and
 * behind a proxy the service may not know that URL.
 */
function nextQuery(link = ''): object | undefined {
  const [, target] = /<([^>]*)>[^<]*;\s*rel="?next\b/i.exec(link) ?? [];
  return target === undefined ? undefined : Object.fromEntries(new URL(target, 'http://localhost').searchParams);
}
