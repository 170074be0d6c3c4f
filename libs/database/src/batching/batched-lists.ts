import { INT64_MAX, INT64_MIN, JsonPage, JsonText, type PageRequest } from '@animal-store/kernel';
import { isReadItemError } from '../connection/error-meaning.js';
import { retryRead } from '../connection/retry.js';
import type { Executor } from '../connection/statement.js';
import { Batcher, type BatchSlots } from '../statements/batcher.js';
import { type ListOrder, listStatement } from '../statements/list-statement.js';
import { arraysOf, checkedValue, elementOf, type Value, type Values } from '../statements/prepared-statement.js';
import type { Sharding } from '../statements/sharding.js';
import type { Column, Table } from '../statements/table.js';

const MAX_PAGES = 32;
/** If this many pages wait, their batch starts although another one is running: PostgreSQL takes longer for a page than for a row. */
const MAX_WAITING_PAGES = 8;

const ORDER_TYPES = ['bigint', 'integer', 'text', 'character varying', 'timestamp with time zone'];

interface ListOptions {
  readonly table: Table;
  readonly sharding: Sharding;
  readonly executor: Executor;
  readonly slots: BatchSlots;
}

type Filter = Readonly<Record<string, unknown>>;
/** Of each page, the values of the filters, the place of the first row and the page size, like the parameters of `listStatement`. */
type Pages<Item> = Batcher<Values, JsonPage<Item>>;

/** Runs concurrent calls for pages of a repository in shared statements. */
export class BatchedLists<Item> {
  /** One per statement, by the names of the filters and the order. */
  private readonly pages = new Map<string, Pages<Item>>();

  constructor(private readonly options: ListOptions) {}

  async find(filter: Filter, { limit, after, order }: PageRequest<string>): Promise<JsonPage<Item>> {
    const parameters: Value[] = [];
    let shape = '';
    let key = '';
    for (const { property } of this.options.table.columns) {
      const value = checkedValue(property, filter[property]);
      if (value === undefined) continue;
      shape += `${property} `;
      parameters.push(value);
      key += `${elementOf(value)} `;
    }
    if (!order) {
      // No row comes after the greatest identifier.
      const [first, size] = after?.id === INT64_MAX ? [INT64_MAX, -1] : [after ? after.id + 1n : INT64_MIN, limit];
      parameters.push(first, size);
      const pages = this.pages.get(shape) ?? this.addPages(shape, filter);
      return pages.submit(parameters, `${key}${String(after?.id)} ${String(size)}`);
    }
    const { by, descending = false } = order;
    const [from, to] = [checkedValue('from', order.from), checkedValue('to', order.to)];
    const [bound, end] = descending ? [to, from] : [from, to];
    const start = after ? 'after' : bound === undefined ? undefined : 'bound';
    if (after) parameters.push(checkedValue('after.value', after.value), checkedValue('after.id', after.id));
    else if (start) parameters.push(bound);
    const hasEnd = end !== undefined;
    if (hasEnd) parameters.push(end);
    parameters.push(limit);
    shape += `order ${by} ${String(descending)} ${String(start)} ${String(hasEnd)}`;
    const pages = this.pages.get(shape) ?? this.addPages(shape, filter, { by, descending, start, hasEnd });
    return pages.submit(parameters, parameters.map(elementOf).join(' '));
  }

  private addPages(shape: string, filter: Filter, order?: Omit<ListOrder, 'column'> & { readonly by: string }): Pages<Item> {
    const { table, sharding, executor, slots } = this.options;
    const filters = table.columns.filter(({ property }) => filter[property] !== undefined);
    const list = { filters, order: order && { ...order, column: orderColumn(table, order.by, filters) } };
    const statement = listStatement(table, list, sharding);
    const members = [table.id, ...table.columns].map(({ property }) => property);
    const parse = table.parse as (text: string) => Item[];
    const pages: Pages<Item> = new Batcher({
      maxSize: MAX_PAGES,
      maxWaiting: MAX_WAITING_PAGES,
      slots,
      isItemError: isReadItemError,
      run: async (requested: readonly Values[]) => {
        const texts = await sharding.runPages((batch) => retryRead(() => statement.run(executor, arraysOf(batch))), requested);
        return texts.map(({ items, next }) => new JsonPage<Item>(new JsonText(items), next, parse, members));
      },
    });
    this.pages.set(shape, pages);
    return pages;
  }
}

function orderColumn({ label, columns }: Table, by: string, filters: readonly Column[]): Column {
  const column = columns.find(({ property }) => property === by);
  if (column && ORDER_TYPES.includes(column.type) && !column.isNullable && !filters.includes(column)) return column;
  throw new Error(
    `${label}: ${by} cannot order a list. It must be a column that is not nullable and not a filter, of the type ${ORDER_TYPES.join(', ')}.`,
  );
}
