/** Receives measurements of statements, without a dependency on a metrics package. */
export interface StatementObserver {
  /**
   * Called once per execution of a prepared statement, whether it succeeds or fails. Must not throw.
   * @param seconds total time, including the wait for a connection
   * @param batchSize number of calls that share the execution
   */
  executed(statement: string, seconds: number, batchSize: number): void;
}

const observers = new WeakMap<object, StatementObserver>();

/** Sets the observer of an executor, replacing any earlier one. */
export function setObserver(executor: object, observer: StatementObserver): void {
  observers.set(executor, observer);
}

export function observerOf(executor: object): StatementObserver | undefined {
  return observers.get(executor);
}
