import type { Page, PageRequest } from './page.js';

/** A value that orders a list. An infinite number in a column of times is `infinity` or `-infinity` in PostgreSQL. */
export type OrderValue = Date | bigint | number | string;

/** Orders a list by one property, then by the identifier, both in the same direction. */
export interface Order<Property extends string = string> {
  readonly by: Property;
  readonly descending?: boolean | undefined;
  /** Only items whose value is equal or greater. */
  readonly from?: OrderValue | undefined;
  /** Only items whose value is less. */
  readonly to?: OrderValue | undefined;
}

/** The place of an item in an ordered list. */
export interface Position {
  readonly value: OrderValue;
  readonly id: bigint;
}

export interface OrderedPageRequest<Property extends string = string> {
  /** Maximum number of items, from 1 to MAX_PAGE_SIZE. */
  readonly limit: number;
  readonly order: Order<Property>;
  /** Only items that come after this position in the order. */
  readonly after?: Position | undefined;
}

export type OrderedPage<Item> = Page<Item, Position>;

/** Whether the request has an order. A list by identifier may have a filter with the name `order`. */
export function isOrdered(request: PageRequest | OrderedPageRequest): request is OrderedPageRequest {
  return 'order' in request && typeof request.order === 'object';
}
