import {
  DEFAULT_PAGE_SIZE,
  DomainError,
  JsonPage,
  JsonText,
  MAX_PAGE_SIZE,
  type Order,
  type Page,
  type PageRequest,
  type Position,
} from '@animal-store/kernel';
import type { Type } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Cursor, CURSOR_SCHEMA, encodeCursor, type SortType } from './cursors.js';
import { documents, toDto } from './responses.js';
import { INVALID_REQUEST } from './routes.js';
import { MayBeAbsent, QueryInteger, Rule } from './validation-rules.js';

const LIMIT = { minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE } as const;

type Filters = Readonly<Record<string, string | number | bigint | boolean | Date | undefined>>;

/** @param same what the cursor is bound to, in addition to the list */
function ListQueryOf(items: string, same: string, isFor: (cursor: Cursor, query: object) => boolean) {
  abstract class ListQuery {
    @ApiPropertyOptional({ type: 'integer', ...LIMIT, description: `Maximum number of ${items} returned.` })
    @MayBeAbsent()
    @QueryInteger(LIMIT)
    limit: number = LIMIT.default;

    @ApiPropertyOptional({
      ...CURSOR_SCHEMA,
      description: `Cursor from the \`Link\` header of the previous page. Valid only with the same ${same}.`,
    })
    @MayBeAbsent()
    @Rule(cursorRule(same), (cursor, query) => cursor instanceof Cursor && isFor(cursor, query), Cursor.parse)
    cursor?: Cursor;
  }
  return ListQuery;
}

const cursorRule = (same: string) => `must be a cursor from this list's Link header, with the same ${same}`;

/** @throws DomainError INVALID_REQUEST if the cursor is that of another list */
function positionOf({ cursor }: { readonly cursor?: Cursor }, url: string, same: string, type?: SortType): Position | undefined {
  if (cursor === undefined) return undefined;
  const position = cursor.positionAt(url, type);
  if (!position) throw new DomainError(INVALID_REQUEST, `cursor ${cursorRule(same)}`);
  return position;
}

/**
 * Returns the base class of a list's query. Subclasses add the filters. A cursor is valid only for the filters it was made for.
 * @param items name of the items in the OpenAPI document, such as `animals`
 */
export function PageQueryOf(items: string) {
  abstract class PageOfItemsQuery extends ListQueryOf(items, 'filters', (cursor, query) => cursor.isFor(filtersOf(query))) {
    /** Returns the request of a page. @param url of the list, as in `respondWithPage` */
    pageOf(url: string): PageRequest {
      return { limit: this.limit, after: positionOf(this, url, 'filters') };
    }
  }
  return PageOfItemsQuery;
}

/** A name in ascending order, or after a minus sign in descending order. */
type Sort<Name extends string> = Name | `-${Name}`;

/**
 * Returns the base class of the query of a list with the parameter `sort`. Subclasses add the filters and the bounds of a range. A cursor
 * is valid only for the filters, the range and the order it was made for.
 * @param items name of the items in the OpenAPI document, such as `animals`
 * @param options the allowed names, with the types of their values, and the default
 */
export function OrderedPageQueryOf<Name extends string>(
  items: string,
  options: { readonly sort: Readonly<Record<Name, SortType>>; readonly default: Sort<NoInfer<Name>> },
) {
  const types = Object.entries<SortType>(options.sort) as [Name, SortType][];
  const orders = types.flatMap(([by, type]) => [
    { name: by, by, descending: false, type },
    { name: `-${by}`, by, descending: true, type },
  ]);
  const names = orders.map(({ name }) => name);
  const orderOf = (sort: unknown) => orders.find(({ name }) => name === sort);
  const isFor = (cursor: Cursor, query: { readonly sort?: unknown }) => {
    const order = orderOf(query.sort);
    return order !== undefined && cursor.isFor(filtersOf(query), order.type);
  };

  abstract class OrderedPageOfItemsQuery extends ListQueryOf(items, 'filters and sort', isFor) {
    @ApiPropertyOptional({
      enum: names,
      default: options.default,
      description: `The order of the ${items}. A minus sign means descending. Equal values are in the order of \`id\`, in the same direction.`,
    })
    @MayBeAbsent()
    @Rule(`must be one of ${names.join(', ')}`, (value) => orderOf(value) !== undefined)
    sort: Sort<Name> = options.default;

    /**
     * Returns the request of a page with a range of one name, whose bounds are members of the subclass. If `from` is not less than `to`, the page
     * is empty.
     * @param url of the list, as in `respondWithPage`
     * @throws DomainError INVALID_REQUEST if there is a bound, but another order
     */
    pageOf(url: string, by: Name, { from, to }: Pick<Order, 'from' | 'to'> = {}): PageRequest<Name> {
      const { by: sortedBy, descending, type } = orderOf(this.sort) as (typeof orders)[number];
      if (sortedBy !== by && (from !== undefined || to !== undefined))
        throw new DomainError(INVALID_REQUEST, `A range of ${by} requires sort to be ${by} or -${by}`);
      const after = positionOf(this, url, 'filters and sort', type);
      return { limit: this.limit, after, order: { by: sortedBy, descending, ...(sortedBy === by && { from, to }) } };
    }
  }
  return OrderedPageOfItemsQuery;
}

/**
 * Returns the filters of a query, which are all its members except limit and cursor, as a query string such as `&status=sold`.
 * Sorted; undefined filters are left out. A text in `received` precedes that of the parsed value.
 */
export function filtersOf(query: object, received: Readonly<Record<string, unknown>> = {}): string {
  const filters: string[] = [];
  for (const name of Object.keys(query)) {
    const value = (query as Filters)[name];
    if (value === undefined || name === 'limit' || name === 'cursor') continue;
    const sent = received[name];
    filters.push(`&${name}=${encodeURIComponent(typeof sent === 'string' ? sent : textOf(value))}`);
  }
  return filters.sort().join('');
}

/** The text of a Date has its milliseconds. An invalid Date has a text, too. */
const textOf = (value: Filters[string]): string => String(value instanceof Date ? value.toJSON() : value);

/** Returns the OpenAPI `headers` of a page's 200, with an example link for these filters, which include an order. */
export const pageHeaders = (path: string, filters: Filters = {}, after: Position = { id: 20n }) =>
  ({
    Link: {
      description: 'URL of the next page (RFC 8288). Present only if there are more items. Use the URL unchanged.',
      schema: { type: 'string' },
      example: linkTo(path, DEFAULT_PAGE_SIZE, filtersOf(filters), encodeCursor(after, path, filtersOf(filters))),
    },
  }) as const;

/** The latest `Link` header. A property instead of a WeakMap, whose entries V8 frees only when it collects the old generation. */
const LINK = Symbol('link');

/**
 * Concurrent equal requests share one page, so its link is created once. Requests with another URL can also share the page, if they mean
 * the same filter.
 */
interface SharedPage<Dto> extends Page<Dto> {
  [LINK]?: { readonly requestUrl: string; readonly link: string };
}

/**
 * Sets the `Link` header if there is a next page, and returns the body. `url` is the URL of the list. The link repeats the filters as they
 * were received; its cursor depends only on their values.
 * @param type of the items. A serialised page is sent unchanged if the class documents all of its members.
 */
export function respondWithPage<Dto extends object>(
  reply: FastifyReply,
  url: string,
  query: { readonly limit: number },
  page: SharedPage<Dto>,
  type: Type<Dto>,
): JsonText<readonly Dto[]> {
  if (page.next !== undefined) {
    const { url: requestUrl, query: received } = reply.request;
    if (page[LINK]?.requestUrl !== requestUrl) {
      const cursor = encodeCursor(page.next, url, filtersOf(query));
      page[LINK] = { requestUrl, link: linkTo(url, query.limit, filtersOf(query, received as Filters), cursor) };
    }
    reply.header('link', page[LINK].link);
  }
  if (page instanceof JsonPage && documents(type, page.members)) return (page as JsonPage<Dto>).json;
  return JsonText.of(page.items.map((item) => toDto(type, item)));
}

function linkTo(url: string, limit: number, filters: string, cursor: string): string {
  return `<${url}?limit=${String(limit)}${filters}&cursor=${cursor}>; rel="next"`;
}
