import { APIPromise, type CompletedRequest } from './api-promise.js';
import { APIConnectionError } from './errors.js';

/** A link to the next page, as the service and proxies write it: the relation is the first parameter. */
const NEXT = /<([^<>]*)>\s*;\s*rel\s*=\s*(?:"next"|next(?![\w-]))/i;

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

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    yield* this.data;
    let next = this.requestNext;
    while (next) {
      const page = await next();
      yield* page.data;
      next = page.requestNext;
    }
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
  const target = NEXT.exec(header)?.[1];
  if (target === undefined) return undefined;
  if (!URL.canParse(target, 'http://localhost')) throw new APIConnectionError('The link to the next page is not a URL');
  return new URL(target, 'http://localhost').searchParams;
}
