/** Receives measurements of statements, without a dependency on a metrics package. */
export interface StatementObserver {
  /**
   * Called once per execution of a prepared statement, whether it succeeds or fails. Must not throw.
   * @param seconds total time, including the wait for a connection
   * @param batchSize number of calls that share the execution
   */
  executed(statement: string, seconds: number, batchSize: number): void;
}

export interface Statement {
  /** Name of a prepared statement. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Whether a replica may execute it. */
  readonly isReplicable?: boolean;
}

/** Calls `run` once, which executes the statement, and returns its result. `run` includes the wait for a connection. */
export type StatementInterceptor = <Result>(statement: Statement, run: () => Result) => Result;
