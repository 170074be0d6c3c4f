/** For metrics. This library depends on no metrics package. */
export interface StatementObserver {
  /**
   * Called once for each execution of a prepared statement, whether it succeeds or fails. Must not throw.
   * @param seconds from the wait for a connection to the last row
   * @param batchSize number of calls that share the execution
   */
  executed(statement: string, seconds: number, batchSize: number): void;
}

const observers = new WeakMap<object, StatementObserver>();

/** @param executor what runs the statements, which has one observer at most */
export function setObserver(executor: object, observer: StatementObserver): void {
  observers.set(executor, observer);
}

export function observerOf(executor: object): StatementObserver | undefined {
  return observers.get(executor);
}
