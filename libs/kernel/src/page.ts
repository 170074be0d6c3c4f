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

/** Items in ascending order of their identifiers, or with a `Position`, in the order of its request. */
export interface Page<Item, Next = bigint> {
  readonly items: readonly Item[];
  /** The identifier or position of the last item if there are more items; otherwise undefined. */
  readonly next?: Next | undefined;
}

/** A page whose items are already serialised. They are parsed when `items` is first read. */
export class JsonPage<Item, Next = bigint> implements Page<Item, Next> {
  private parsed: readonly Item[] | undefined;

  constructor(
    readonly json: JsonText<readonly Item[]>,
    readonly next: Next | undefined,
    private readonly parse: (text: string) => readonly Item[],
  ) {}

  get items(): readonly Item[] {
    return (this.parsed ??= this.parse(this.json.text));
  }
}
