import { parse } from 'libpg-query';

/** Distribution column of each distributed table, by `schema.table`. */
export type ShardColumns = ReadonlyMap<string, string>;

/** A node of PostgreSQL's parse tree: https://github.com/pganalyze/libpg_query */
type Node = Readonly<Record<string, unknown>>;

interface Command {
  readonly kind: string;
  readonly node: Node;
}

const COMMANDS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'];
/** Functions that assume that ids are in the order of insertion. */
const ORDER_OF_IDS = new Set(['lastval', 'currval', 'max', 'min']);

/** Returns the rules of Citus that a statement violates (docs/scaling.md). */
export async function shardingViolations(sql: string, shards: ShardColumns): Promise<string[]> {
  const { stmts = [] } = (await parse(sql)) as { stmts?: { stmt?: Node }[] };
  return stmts.flatMap(({ stmt = {} }) => [
    ...new Set(commandsIn(stmt).flatMap((command) => violationsOf(command, shards))),
    ...orderViolations(stmt),
  ]);
}

function violationsOf({ kind, node }: Command, shards: ShardColumns): string[] {
  const found: string[] = [];
  const tables = tablesOf({ kind, node });
  const sharded = tables.filter((table) => shards.has(table));
  const columns = sharded.map((table) => shards.get(table) as string);
  const filters = listOf(node['whereClause']);
  if (node['lockingClause'] && sharded.length > 0 && !columns.every((column) => filters.some((filter) => isEquality(filter, column))))
    found.push('FOR UPDATE without the shard column');
  if (sharded.length > 1) found.push('a join of distributed tables');
  if (isLimitedLateral(node, shards)) found.push('LIMIT or OFFSET in a lateral subquery of a distributed table');
  if (filters.some((filter) => columns.some((column) => isComparedWithSubquery(filter, column))))
    found.push('a shard column compared with a subquery');
  if (
    kind === 'UpdateStmt' &&
    listOf(node['targetList']).some((target) => columns.includes(memberOf(target, 'ResTarget')['name'] as string))
  )
    found.push('a change of the shard column');
  for (const expression of descendants(node, (child) => !COMMANDS.some((command) => command in child)))
    found.push(...idOrderViolations(expression, columns));
  return found;
}

/** Returns violations by expressions that assume an order of ids, or that ids are consecutive. */
function idOrderViolations(expression: Node, columns: readonly string[]): string[] {
  const call = expression['FuncCall'] as Node | undefined;
  const name = call && stringOf(listOf(call['funcname']).at(-1));
  if (name === undefined) {
    const { name: operators, lexpr, rexpr } = memberOf(expression, 'A_Expr');
    const isArithmetic = ['+', '-', '*', '/', '%'].includes(stringOf(listOf(operators)[0]) ?? '');
    return isArithmetic && [lexpr, rexpr].some((side) => columns.includes(columnOf(side) ?? '')) ? ['arithmetic with identifiers'] : [];
  }
  const isOfIds = name.endsWith('val') || listOf(call?.['args']).some((argument) => columns.includes(columnOf(argument) ?? ''));
  return ORDER_OF_IDS.has(name) && isOfIds ? [`${name}() of identifiers`] : [];
}

/** Returns a violation if the statement relies on the order of RETURNING, which PostgreSQL does not guarantee and Citus changes. */
function orderViolations(statement: Node): string[] {
  const [kind, node] = Object.entries(statement)[0] as [string, Node];
  if (kind !== 'SelectStmt') return isWriteOfSeveralRows({ kind, node }) && isReturning(node) ? ['the order of RETURNING'] : [];
  const ctes = listOf((node['withClause'] as Node | undefined)?.['ctes']).map((cte) => memberOf(cte, 'CommonTableExpr'));
  const returning = new Set(
    ctes
      .filter(({ ctequery }) => {
        const [written, writing] = Object.entries(ctequery as Node)[0] as [string, Node];
        return isReturning(writing) && isWriteOfSeveralRows({ kind: written, node: writing });
      })
      .map(({ ctename }) => ctename),
  );
  const sources = listOf(node['fromClause']);
  const isAlone = sources.length === 1 && returning.has(memberOf(sources[0], 'RangeVar')['relname']);
  return isAlone && !node['sortClause'] ? ['the order of RETURNING'] : [];
}

function isReturning(node: Node): boolean {
  return node['returningClause'] !== undefined;
}

function isWriteOfSeveralRows({ kind, node }: Command): boolean {
  if (kind === 'UpdateStmt' || kind === 'DeleteStmt') return true;
  if (kind !== 'InsertStmt') return false;
  const values = listOf(memberOf(node['selectStmt'], 'SelectStmt')['valuesLists']);
  return values.length !== 1;
}

function isEquality(filter: unknown, column: string): boolean {
  const { kind, name, lexpr, rexpr } = memberOf(filter, 'A_Expr');
  return kind === 'AEXPR_OP' && stringOf(listOf(name)[0]) === '=' && [lexpr, rexpr].some((side) => columnOf(side) === column);
}

/** Returns whether the column is compared with a subquery without tables. Citus only finds the shard by a parameter or a constant. */
function isComparedWithSubquery(filter: unknown, column: string): boolean {
  const { lexpr, rexpr } = memberOf(filter, 'A_Expr');
  if (columnOf(lexpr) !== column) return false;
  const subqueries = descendants({ rexpr }).flatMap((node) => (node['SubLink'] ? [memberOf(node['SubLink'], '')['subselect']] : []));
  return subqueries.some((subquery) => !memberOf(subquery, 'SelectStmt')['fromClause']);
}

function isLimitedLateral(node: Node, shards: ShardColumns): boolean {
  return descendants(node).some((child) => {
    const { lateral, subquery } = memberOf(child, 'RangeSubselect');
    if (lateral !== true) return false;
    return commandsIn(subquery as Node).some((command) => {
      const isLimited = Boolean(command.node['limitCount'] ?? command.node['limitOffset']);
      return isLimited && commandsIn({ [command.kind]: command.node }).some((inner) => tablesOf(inner).some((table) => shards.has(table)));
    });
  });
}

/** Returns all commands of a statement, including CTEs and subqueries. */
function commandsIn(statement: Node): Command[] {
  return descendants(statement).flatMap((node) =>
    COMMANDS.filter((kind) => kind in node).map((kind) => ({ kind, node: node[kind] as Node })),
  );
}

/** Returns the `schema.table` of the tables that the command itself reads or writes, including joined subqueries. */
function tablesOf({ node }: Command): string[] {
  const target = node['relation'] ? [tableOf(node['relation'] as Node)] : [];
  const sources = [node['fromClause'], node['usingClause']].flatMap((clause) => descendants({ clause }));
  return [...target, ...sources.flatMap((source) => (source['RangeVar'] ? [tableOf(source['RangeVar'] as Node)] : []))];
}

function tableOf(node: Node): string {
  const { schemaname = '', relname } = node as { schemaname?: string; relname: string };
  return `${schemaname}.${relname}`;
}

function columnOf(node: unknown): string | undefined {
  const fields = listOf(memberOf(node, 'ColumnRef')['fields']);
  return stringOf(fields.at(-1));
}

function stringOf(node: unknown): string | undefined {
  return memberOf(node, 'String')['sval'] as string | undefined;
}

/** Returns the value as a list: a list unchanged, the operands of an AND, or any other node as the only element. */
function listOf(value: unknown): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  const { boolop, args } = memberOf(value, 'BoolExpr');
  return boolop === 'AND_EXPR' ? listOf(args) : [value];
}

/** Returns the member of a node, the node itself if `kind` is empty, or an empty node if there is no such member. */
function memberOf(node: unknown, kind: string): Node {
  if (typeof node !== 'object' || node === null) return {};
  return kind === '' ? (node as Node) : (((node as Node)[kind] as Node | undefined) ?? {});
}

/** Returns the node and all its descendants, without those that `mayEnter` rejects and their descendants. */
function descendants(node: unknown, mayEnter: (node: Node) => boolean = () => true): Node[] {
  if (Array.isArray(node)) return node.flatMap((child) => descendants(child, mayEnter));
  if (typeof node !== 'object' || node === null || !mayEnter(node as Node)) return [];
  return [node as Node, ...Object.values(node).flatMap((child) => descendants(child, mayEnter))];
}
