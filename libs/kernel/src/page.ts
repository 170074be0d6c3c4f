import type { JsonText } from './json-text.js';

/** The default and maximum number of items per page of every list. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

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

/** The place of an item in a list. */
export interface Position {
  readonly id: bigint;
  /** The value that orders the list; undefined if the identifier does. */
  readonly value?: OrderValue | undefined;
}

export interface PageRequest<Property extends string = never> {
  /** Maximum number of items, from 1 to MAX_PAGE_SIZE. */
  readonly limit: number;
  /** By default, items are in ascending order of their identifiers. */
  readonly order?: Order<Property> | undefined;
  /** Only items that come after this position in the order. */
  readonly after?: Position | undefined;
}

/** Items in the order of the request. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** The position of the last item if there are more items; otherwise undefined. */
  readonly next?: Position | undefined;
}

/** A page whose items are already serialised. They are parsed when `items` is first read. */
export class JsonPage<Item> implements Page<Item> {
  private parsed: readonly Item[] | undefined;

  constructor(
    readonly json: JsonText<readonly Item[]>,
    readonly next: Position | undefined,
    private readonly parse: (text: string) => readonly Item[],
    /** The names of the members that each item has. */
    readonly members: readonly string[],
  ) {}

  get items(): readonly Item[] {
    return (this.parsed ??= this.parse(this.json.text));
  }
}
