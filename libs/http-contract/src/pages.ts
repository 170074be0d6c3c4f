import { DEFAULT_PAGE_SIZE, JsonPage, JsonText, MAX_PAGE_SIZE, type Page, type PageRequest } from '@animal-store/kernel';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { acceptsCursor, CURSOR_SCHEMA, decodeCursor, encodeCursor } from './cursor.js';
import { MayBeAbsent, QueryInteger, Rule } from './validation-rules.js';

const LIMIT = { minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE } as const;

/** The filters of a list by name. */
type Filters = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** The query of a paginated list. */
export interface PageQuery extends PageRequest {
  readonly cursor?: string;
}

/**
 * Returns the base class of a list's query. Subclasses add the filters. A cursor is valid only for the filters it was made for.
 * @param items name of the items in the OpenAPI document, such as `animals`
 */
export function PageQueryOf(items: string): abstract new () => PageQuery {
  abstract class PageOfItemsQuery implements PageQuery {
    @ApiPropertyOptional({ type: 'integer', ...LIMIT, description: `Maximum number of ${items} returned.` })
    @MayBeAbsent()
    @QueryInteger(LIMIT)
    limit: number = LIMIT.default;

    @ApiPropertyOptional({
      ...CURSOR_SCHEMA,
      description: 'Cursor from the `Link` header of the previous page. Valid only with the same filters.',
    })
    @MayBeAbsent()
    @Rule("must be a cursor from this list's Link header, with the same filters", (cursor, query) =>
      acceptsCursor(cursor, filtersOf(query)),
    )
    cursor?: string;

    get after(): bigint | undefined {
      return this.cursor === undefined ? undefined : decodeCursor(this.cursor);
    }
  }
  return PageOfItemsQuery;
}

/**
 * Returns the filters of a query, which are all its members except limit and cursor, as a query string such as `&status=sold`.
 * Sorted; undefined filters are left out.
 */
export function filtersOf(query: object): string {
  const filters: string[] = [];
  for (const name of Object.keys(query)) {
    const value = (query as Filters)[name];
    if (value !== undefined && name !== 'limit' && name !== 'cursor') filters.push(`&${name}=${encodeURIComponent(String(value))}`);
  }
  return filters.sort().join('');
}

/** Returns the OpenAPI `headers` of a page's 200, with an example link for these filters. */
export const pageHeaders = (path: string, filters: Filters = {}) =>
  ({
    Link: {
      description: 'URL of the next page (RFC 8288). Present only if there are more items. Use the URL unchanged.',
      schema: { type: 'string' },
      example: linkTo(path, DEFAULT_PAGE_SIZE, filtersOf(filters), 20n),
    },
  }) as const;

/** The latest `Link` header. A property instead of a WeakMap, whose entries V8 frees only when it collects the old generation. */
const LINK = Symbol('link');

/**
 * Concurrent equal requests share one page, so its link is created once. Requests with another URL can also share the page, if they mean
 * the same filter.
 */
interface SharedPage<Item> extends Page<Item> {
  [LINK]?: { readonly requestUrl: string; readonly link: string };
}

/** Sets the `Link` header if there is a next page, and returns the body. `url` is the URL of the list. */
export function respondWithPage<Item>(
  reply: FastifyReply,
  url: string,
  query: PageQuery,
  page: SharedPage<Item>,
): JsonText<readonly Item[]> {
  if (page.next !== undefined) {
    const requestUrl = reply.request.url;
    if (page[LINK]?.requestUrl !== requestUrl) page[LINK] = { requestUrl, link: linkTo(url, query.limit, filtersOf(query), page.next) };
    reply.header('link', page[LINK].link);
  }
  return page instanceof JsonPage ? (page as JsonPage<Item>).json : JsonText.of(page.items);
}

function linkTo(url: string, limit: number, filters: string, after: bigint): string {
  return `<${url}?limit=${String(limit)}${filters}&cursor=${encodeCursor(after, filters)}>; rel="next"`;
}
