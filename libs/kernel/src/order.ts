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

/** Compares two values of one type: texts by their code points, like PostgreSQL with the collation "C". */
export function compareOrderValues(one: OrderValue, other: OrderValue): number {
  if (typeof one === 'string' && typeof other === 'string') return compareTexts(one, other);
  return one < other ? -1 : Number(one > other);
}

function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index++) {
    // Compares code points, because a surrogate is less than a later character of one code unit.
    if (one[index] !== other[index]) return Number(one.codePointAt(index)) - Number(other.codePointAt(index));
  }
  return one.length - other.length;
}

/** Whether the request has an order. A list by identifier may have a filter with the name `order`. */
export function isOrdered(request: PageRequest | OrderedPageRequest): request is OrderedPageRequest {
  return 'order' in request && typeof request.order === 'object';
}

interface Identified {
  readonly id: bigint;
}

/** Returns a page of the items, which match the filters and are in any order. For in-memory adapters. */
export function pageOf<Item extends Identified>(items: readonly Item[], request: PageRequest): Page<Item>;
export function pageOf<Property extends string, Item extends Identified & Readonly<Record<Property, OrderValue>>>(
  items: readonly Item[],
  request: OrderedPageRequest<Property>,
): OrderedPage<Item>;
export function pageOf<Item extends Identified>(
  items: readonly Item[],
  request: PageRequest | OrderedPageRequest,
): Page<Item, bigint | Position> {
  const { limit, after } = request;
  const { by, descending = false, from, to }: Order = isOrdered(request) ? request.order : { by: 'id' };
  const positionOf = (item: Item): Position => ({ value: Reflect.get(item, by) as OrderValue, id: item.id });
  const start = typeof after === 'bigint' ? { value: after, id: after } : after;
  const compare = (one: Position, other: Position) =>
    (compareOrderValues(one.value, other.value) || compareOrderValues(one.id, other.id)) * (descending ? -1 : 1);
  const isListed = (position: Position) =>
    (from === undefined || compareOrderValues(position.value, from) >= 0) &&
    (to === undefined || compareOrderValues(position.value, to) < 0) &&
    (start === undefined || compare(position, start) > 0);
  const listed = items.filter((item) => isListed(positionOf(item))).sort((one, other) => compare(positionOf(one), positionOf(other)));
  const last = listed.length > limit ? listed[limit - 1] : undefined;
  return { items: listed.slice(0, limit), next: last && (isOrdered(request) ? positionOf(last) : last.id) };
}
