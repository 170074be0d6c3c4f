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
  readonly items: readonly Item[];
  /** The identifier of the last item if there are more items; otherwise undefined. */
  readonly next?: bigint | undefined;
}

/** A page whose items are already serialised. They are parsed when `items` is first read. */
export class JsonPage<Item> implements Page<Item> {
  private parsed: readonly Item[] | undefined;

  constructor(
    readonly json: JsonText<readonly Item[]>,
    readonly next: bigint | undefined,
    private readonly parse: (text: string) => readonly Item[],
  ) {}

  get items(): readonly Item[] {
    return (this.parsed ??= this.parse(this.json.text));
  }
}
