import type { QueryRunner } from 'typeorm';
import { DatabasePool, type DatabasePoolConfig } from './database-pool.js';
import type { Execution, Statement, StatementInterceptor } from './statement.js';

/** Runs its statements in a `StatementInterceptor`, unless the caller passes a callback. */
export class InterceptedPool extends DatabasePool {
  constructor(
    config: DatabasePoolConfig,
    private readonly interceptor: StatementInterceptor,
  ) {
    super(config);
  }

  /** Returns what `pg` returns. `never` is compatible with all its overloads. */
  override query(...args: unknown[]): never {
    const run = () => (super.query as (...all: unknown[]) => never).apply(this, args);
    const statement = statementOf(args);
    return statement ? this.interceptor(statement, run) : run();
  }

  override execute<Row>(execution: Execution<Row>): Promise<Row[]> {
    const { label: name, text, values } = execution;
    return this.interceptor({ name, text, values }, () => super.execute(execution));
  }
}

/** Runs the statements of the query runner in the interceptor, those of its transactions included. */
export function interceptStatements(runner: QueryRunner, interceptor: StatementInterceptor): QueryRunner {
  const query = runner.query.bind(runner) as (...args: unknown[]) => Promise<never>;
  runner.query = (text: string, values?: unknown[], ...rest: unknown[]) =>
    interceptor({ text, ...(Array.isArray(values) && { values }) }, () => query(text, values, ...rest));
  return runner;
}

/** Returns the statement, or undefined if the caller passes a callback instead of awaiting a promise. */
function statementOf([query, values, callback]: readonly unknown[]): Statement | undefined {
  if (typeof values === 'function' || typeof callback === 'function') return undefined;
  const given = Array.isArray(values) ? { values } : {};
  if (typeof query === 'string') return { text: query, ...given };
  return typeof query === 'object' && query !== null && 'text' in query ? { ...given, ...(query as Statement) } : undefined;
}
