import type { JsonText } from './json-text.js';

/** The default and maximum number of items per page of every list. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export interface PageRequest {
  /** Maximum number of items, from 1 to MAX_PAGE_SIZE. */
  readonly limit: number;
  /** Only items with a greater identifier. */
  readonly after?: bigint | undefined;
}

/** Items in ascending order of their identifiers. */
export interface Page<Item> {
  readonly items: JsonText<readonly Item[]>;
  /** The identifier of the last item if there are more items; otherwise undefined. */
  readonly next?: bigint;
}
