import type { QueryRunner } from 'typeorm';
import { DatabasePool, type DatabasePoolConfig } from './database-pool.js';
import type { Execution, Statement, StatementInterceptor } from './statement.js';

/** Runs its statements in a `StatementInterceptor`. Callers await a promise, and pass no callback. */
export class InterceptedPool extends DatabasePool {
  constructor(
    config: DatabasePoolConfig,
    private readonly interceptor: StatementInterceptor,
  ) {
    super(config);
  }

  /** Returns what `pg` returns. `never` is compatible with all its overloads. */
  override query(...args: unknown[]): never {
    return this.interceptor(statementOf(args), () => (super.query as (...all: unknown[]) => never).apply(this, args));
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

function statementOf([query, values]: readonly unknown[]): Statement {
  const given = Array.isArray(values) ? { values } : {};
  return typeof query === 'string' ? { text: query, ...given } : { ...given, ...(query as Statement) };
}
