import type { Client } from 'pg';

/** A row as PostgreSQL returns it: each column as text. */
export type Columns = readonly (string | null)[];

/** `name` is the label of a prepared statement, and `batchSize` the number of calls that share its execution. */
export type Statement = Readonly<{ name?: string; batchSize?: number; text: string; values?: readonly unknown[] | undefined }>;

/** Calls `run` once, which executes the statement, and returns its result. `run` includes the wait for a connection. */
export type StatementInterceptor = <Result>(statement: Statement, run: () => Promise<Result>) => Promise<Result>;

/** A `DatabasePool` or `Replicas`. */
export interface Executor {
  readonly interceptor?: StatementInterceptor | undefined;
  /** Runs `work` with a connection. `Replicas` runs it again on the primary if it failed on a replica. */
  withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
}
