import { INT64_MAX, INT64_MIN, JsonPage, JsonText, type Order, type OrderValue, type PageRequest } from '@animal-store/kernel';
import { isReadItemError } from '../connection/error-meaning.js';
import { retryRead } from '../connection/retry.js';
import type { Executor } from '../connection/statement.js';
import type { List } from '../persistence.js';
import { Batcher, type BatchSlots } from '../statements/batcher.js';
import { type ListOrder, listStatement, type PageText } from '../statements/list-statement.js';
import { arraysOf, checkedValue, elementOf, type PreparedStatement, type Value, type Values } from '../statements/prepared-statement.js';
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
  readonly connections: BatchSlots;
  /** The lists of the entity in its persistence. */
  readonly declared: readonly List[];
  /** The properties of an item. The default is all columns. */
  readonly listed: readonly PropertyKey[] | undefined;
}

type Filter = Readonly<Record<string, unknown>>;
/** The values of the filters, then the place of the first row and the page size, like the parameters of `listStatement`. */
type PageParameters = Values;
type Pages<Item> = Batcher<PageParameters, JsonPage<Item>>;

/** Runs concurrent calls for pages of a repository in shared statements. */
export class BatchedLists<Item> {
  /** One per statement, by the names of the filters, whether they are null, and the order. */
  private readonly pages = new Map<string, Pages<Item>>();

  constructor(private readonly options: ListOptions) {}

  async find(filter: Filter, request: PageRequest<string>): Promise<JsonPage<Item>> {
    const parameters: Value[] = [];
    let names = '';
    let key = '';
    for (const column of this.options.table.columns) {
      const value = checkedValue(column.property, filter[column.property]);
      if (value === undefined) continue;
      names += value === null ? `${column.property} null ` : `${column.property} `;
      if (value === null) continue;
      parameters.push(value);
      key += `${elementOf(value)} `;
    }
    const { limit, order } = request;
    if (order) return this.findOrdered(filter, request, order, parameters, names);
    const after = request.after?.id;
    // No row comes after the greatest identifier.
    const [first, size] = after === INT64_MAX ? [after, -1] : [after === undefined ? INT64_MIN : after + 1n, limit];
    parameters.push(first, size);
    const pages = this.pages.get(names) ?? this.addPages(names, filter);
    return pages.submit(parameters, `${key}${String(after)} ${String(size)}`);
  }

  private findOrdered(
    filter: Filter,
    { limit, after }: PageRequest<string>,
    order: Order,
    parameters: Value[],
    names: string,
  ): Promise<JsonPage<Item>> {
    const { by, descending = false } = order;
    const [from, to] = [checkedValue('from', order.from), checkedValue('to', order.to)];
    const [bound, end] = descending ? [to, from] : [from, to];
    let start: ListOrder['start'];
    if (after?.value !== undefined && isInRange(after.value, order)) {
      start = 'after';
      parameters.push(checkedValue('after.value', after.value), checkedValue('after.id', after.id));
    } else if (bound !== undefined) {
      start = 'bound';
      parameters.push(bound);
    }
    const hasEnd = end !== undefined;
    if (hasEnd) parameters.push(end);
    parameters.push(limit);
    const shape = `${names}order ${by} ${String(descending)} ${String(start)} ${String(hasEnd)}`;
    const pages = this.pages.get(shape) ?? this.addPages(shape, filter, { by, descending, start, hasEnd });
    return pages.submit(parameters, parameters.map(elementOf).join(' '));
  }

  private addPages(shape: string, filter: Filter, order?: Omit<ListOrder, 'column'> & { readonly by: string }): Pages<Item> {
    const { table, sharding, declared, listed, slots, connections } = this.options;
    const nulls = table.columns.filter(({ property }) => filter[property] === null);
    const filters = table.columns.filter((column) => filter[column.property] !== undefined && !nulls.includes(column));
    const columns = listedColumns(table, listed);
    assertDeclared(declared, table, [...filters, ...nulls], order?.by);
    const statement = listStatement(
      table,
      { filters, nulls, columns, order: order && { ...order, column: orderColumn(table, columns, order.by, filters.concat(nulls)) } },
      sharding,
    );
    const pages: Pages<Item> = new Batcher({
      maxSize: MAX_PAGES,
      maxWaiting: MAX_WAITING_PAGES,
      slots,
      connections,
      isItemError: isReadItemError,
      run: (requested: readonly PageParameters[]) => this.run(statement, requested),
    });
    this.pages.set(shape, pages);
    return pages;
  }

  private async run(statement: PreparedStatement<PageText>, pages: readonly PageParameters[]): Promise<JsonPage<Item>[]> {
    const { table, executor, sharding } = this.options;
    const texts = await sharding.runPages((batch) => retryRead(() => statement.run(executor, arraysOf(batch))), pages);
    const parse = table.parse as (text: string) => Item[];
    return texts.map(({ items, next }) => new JsonPage<Item>(new JsonText(items), next, parse));
  }
}

/** Compares two values of one type: texts by their bytes, like PostgreSQL with the collation "C". */
export function compareOrderValues(one: OrderValue, other: OrderValue): number {
  if (typeof one === 'string') return Buffer.compare(Buffer.from(one), Buffer.from(other as string));
  return one < other ? -1 : Number(one > other);
}

/** Whether the list continues after the position. If the position precedes the range, it starts with the range. */
function isInRange(value: OrderValue, { descending, from, to }: Order): boolean {
  if (descending) return to === undefined || compareOrderValues(value, to) < 0;
  return from === undefined || compareOrderValues(value, from) >= 0;
}

function listedColumns({ label, columns }: Table, listed: readonly PropertyKey[] | undefined): readonly Column[] {
  const unknown = listed?.find((name) => !columns.some(({ property }) => property === name));
  if (unknown !== undefined)
    throw new Error(`${label}: ${String(unknown)} cannot be in a list, because it has no column that is selected.`);
  return listed ? columns.filter(({ property }) => listed.includes(property)) : columns;
}

function orderColumn({ label }: Table, columns: readonly Column[], by: string, filters: readonly Column[]): Column {
  const column = columns.find(({ property }) => property === by);
  if (!column) throw new Error(`${label}: ${by} cannot order a list, because it is not a column of its items.`);
  if (column.isNullable) throw new Error(`${label}: ${by} cannot order a list, because it is nullable.`);
  if (filters.includes(column)) throw new Error(`${label}: ${by} cannot both order and filter a list; use \`from\` and \`to\`.`);
  if (!ORDER_TYPES.includes(column.type)) throw new Error(`${label}: ${by} cannot order a list, because its type is ${column.type}.`);
  return column;
}

/** @throws Error if no index of the list is required */
function assertDeclared(declared: readonly List[], { label }: Table, filters: readonly Column[], orderBy: string | undefined): void {
  if (declared.length === 0 && orderBy === undefined) return;
  const names = filters.map(({ property }) => property).sort();
  const isDeclared = declared.some(
    (list) => list.orderBy === orderBy && list.filters.some((combination) => combination.toSorted().join() === names.join()),
  );
  if (isDeclared) return;
  throw new Error(
    `${label}: \`lists\` of its Persistence must declare the filters [${names.join(', ')}] with orderBy ${String(orderBy)}, so that an index is required.`,
  );
}
