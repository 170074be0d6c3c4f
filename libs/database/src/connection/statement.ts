import type { Client } from 'pg';

/** A row as PostgreSQL returns it: each column as text. */
export type Columns = readonly (string | null)[];

/** Receives measurements of statements, without a dependency on a metrics package. */
export interface StatementObserver {
  /**
   * Called once per execution of a prepared statement, whether it succeeds or fails. Must not throw.
   * @param seconds total time, including the wait for a connection
   * @param batchSize number of calls that share the execution
   */
  executed(statement: string, seconds: number, batchSize: number): void;
}

/** `name` is the label of a prepared statement. */
export type Statement = Readonly<{ name?: string; text: string; values?: readonly unknown[] | undefined }>;

/** Calls `run` once, which executes the statement, and returns its result. `run` includes the wait for a connection. */
export type StatementInterceptor = <Result>(statement: Statement, run: () => Promise<Result>) => Promise<Result>;

/** A `DatabasePool` or `Replicas`. */
export interface Executor {
  readonly observer?: StatementObserver | undefined;
  readonly interceptor?: StatementInterceptor | undefined;
  /** Runs `work` with a connection. `Replicas` runs it again on the primary if it failed on a replica. */
  withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
}
