import type { JsonText } from './json-text.js';

/** Of every list: how many items a page has unless the caller asks for another number, and at most. */
export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

export interface PageRequest {
  /** At most so many items, from 1 to MAX_PAGE_SIZE. */
  readonly limit: number;
  /** Only items with a greater identifier. */
  readonly after?: bigint | undefined;
}

/** Items in ascending order of their identifiers. */
export interface Page<Item> {
  readonly items: JsonText<readonly Item[]>;
  /** The identifier of the last item, exactly when a further item exists. */
  readonly next?: bigint;
}
