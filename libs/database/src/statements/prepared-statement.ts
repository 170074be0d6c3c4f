import { hash } from 'node:crypto';
import type { Client, Submittable } from 'pg';
import { isStatementLost } from '../connection/error-meaning.js';
import type { SubmitConnection } from '../connection/pg-internals.js';
import type { Columns, Executor } from '../connection/statement.js';

/** PostgreSQL truncates longer names. */
const MAX_NAME_LENGTH = 63;

/** Undefined is NULL. */
export type Value = bigint | number | string | boolean | null | undefined;
export type Values = readonly Value[];

/** A statement that each connection prepares once. Takes 25% less time than one of `pg`, which also looks up types and descriptions. */
export class PreparedStatement<Row, RowColumns extends Columns = Columns> {
  /** Its name on the server. Starts with a hash, so that statements with the same label have different ones. */
  readonly name: string;

  constructor(
    readonly label: string,
    readonly text: string,
    readonly toRow: (columns: RowColumns) => Row,
  ) {
    this.name = `${hash('sha256', text, 'base64url').slice(0, 11)} ${label}`.slice(0, MAX_NAME_LENGTH);
  }

  run(pool: Executor, parameters: readonly (Value | Values)[]): Promise<Row[]> {
    const values = parameters.map((parameter) => (isArray(parameter) ? `{${parameter.map(elementOf).join()}}` : textOf(parameter)));
    const run = () => pool.withClient((client) => this.runOn(client, values));
    const { interceptor } = pool;
    if (!interceptor) return run();
    const [first] = parameters;
    return interceptor({ name: this.label, batchSize: isArray(first) ? first.length : 1, text: this.text, values }, run);
  }

  /** Prepares the statement again if the session has lost it, or its plan is outdated after an ALTER TABLE. */
  runOn(client: Client, values: Texts): Promise<Row[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
    const execute = (fail: (error: unknown) => void) => {
      client.query(
        new PreparedExecution(this, values, (error, rows) => {
          if (rows) resolve(rows);
          else fail(error);
        }),
      );
    };
    execute((error) => {
      if (isStatementLost(error)) execute(reject);
      else reject(error);
    });
    return promise;
  }
}

/** The parameters in PostgreSQL's text format. */
type Texts = readonly (string | null)[];

/**
 * One execution of a statement on one connection. `pg` calls `submit`, then `handle…` for each message. It reads `name` and `text`
 * to track prepared statements.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class PreparedExecution<Row, RowColumns extends Columns> implements Submittable {
  readonly name: string;
  readonly text: string;
  private readonly rows: Row[] = [];
  private failure: unknown;

  constructor(
    private readonly statement: PreparedStatement<Row, RowColumns>,
    private readonly values: Texts,
    /** `pg` replaces it if it gives up the statement. */
    public callback: (error: unknown, rows?: Row[]) => void,
  ) {
    this.name = statement.name;
    this.text = statement.text;
  }

  submit(pgConnection: unknown): null {
    const connection = pgConnection as SubmitConnection;
    const { name, text, values } = this;
    connection.stream.cork();
    try {
      if ((connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === undefined) {
        connection.parse({ name, text });
        connection.submittedNamedStatements[name] = text;
      }
      connection.bind({ statement: name, values });
      connection.execute();
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleDataRow({ fields }: { fields: Columns }): void {
    if (this.failure !== undefined) return;
    try {
      this.rows.push(this.statement.toRow(fields as RowColumns));
    } catch (error) {
      this.failure = error;
    }
  }

  handleReadyForQuery(): void {
    if (this.failure === undefined) this.callback(null, this.rows);
    else this.callback(this.failure);
  }

  handleError(error: unknown, connection: SubmitConnection): void {
    if (isStatementLost(error)) {
      connection.close({ type: 'S', name: this.name });
      connection.parsedStatements[this.name] = undefined;
    }
    this.callback(error);
  }

  /** Required by `pg`, with nothing to do. */
  handleCommandComplete(): void {}
}

/** `Array.isArray` does not narrow a readonly array. */
const isArray: (parameter: Value | Values) => parameter is Values = Array.isArray;

/** Returns a form that cannot fail later, and with it others of the batch. @throws TypeError that names the parameter */
export function checkedValue(name: string, value: unknown): Value {
  switch (typeof value) {
    case 'string':
      // As UTF-8, a lone surrogate would become another character.
      if (value.isWellFormed()) return value;
      throw new TypeError(`${name} must be well-formed Unicode, without lone surrogates.`);
    case 'bigint':
    case 'number':
    case 'boolean':
    case 'undefined':
      return value;
    default:
      if (value === null) return null;
      if (!(value instanceof Date)) throw new TypeError(`${name} must be a text, a number, a boolean, a Date or null.`);
      if (Number.isNaN(value.getTime())) throw new TypeError(`${name} must be a valid Date.`);
      return value.toISOString();
  }
}

/** Returns an array of values per parameter. */
export function arraysOf(calls: readonly Values[]): Values[] {
  return (calls[0] ?? []).map((_, index) => calls.map((parameters) => parameters[index]));
}

function textOf(value: Value): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** Returns an element of an array literal. Different values have different texts. https://www.postgresql.org/docs/current/arrays.html */
export function elementOf(value: Value): string {
  if (typeof value === 'string') return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  return textOf(value) ?? 'NULL';
}
