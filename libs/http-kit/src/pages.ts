import { crc32 } from 'node:zlib';
import { DEFAULT_PAGE_SIZE, JsonPage, JsonText, MAX_PAGE_SIZE, type Page, type PageRequest } from '@animal-store/kernel';
import { ApiPropertyOptional } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MayBeAbsent, QueryInteger, Rule } from './validation-rules.js';

/**
 * Version of the cursor format. A cursor is the Base64url form of the version (1 byte), the last identifier (8 bytes), and the CRC-32 of
 * the version, the identifier and the filters (4 bytes). All are big-endian.
 */
const FORMAT = 1;
const ID_AT = 1;
const CRC_AT = 9;
const BYTES = 13;
/** The last four bits of the last character are unused, and zero. */
const CURSOR = /^[\w-]{17}[AQgw]$/;

/** Reused for every cursor. */
const bytes = Buffer.alloc(BYTES);
const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES);
view.setUint8(0, FORMAT);

/** The schema of a cursor in the OpenAPI document. It leaves the length open, so that it may change. */
export const CURSOR_SCHEMA = { type: 'string', minLength: 1 } as const;

/** Returns the cursor of the page after this identifier. `filters` is a query string such as `&status=sold`. Opaque to clients. */
export function encodeCursor(after: bigint, filters: string): string {
  view.setBigInt64(ID_AT, after);
  view.setUint32(CRC_AT, checksum(after, filters));
  return bytes.toString('base64url');
}

/** Returns whether `encodeCursor` made the text for these filters. */
export function acceptsCursor(text: unknown, filters: string): text is string {
  if (typeof text !== 'string' || !CURSOR.test(text)) return false;
  const decoded = Buffer.from(text, 'base64url');
  return decoded[0] === FORMAT && decoded.readUInt32BE(CRC_AT) === checksum(decoded.readBigInt64BE(ID_AT), filters);
}

/** Returns the identifier after which the page begins. Requires an accepted text. */
export const decodeCursor = (cursor: string): bigint => Buffer.from(cursor, 'base64url').readBigInt64BE(ID_AT);

function checksum(after: bigint, filters: string): number {
  return crc32(`${String(FORMAT)} ${String(after)}${filters}`);
}

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
