import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { poolOf } from './data-source.js';

/** For metrics. This library depends on no metrics package. */
export interface StatementObserver {
  /**
   * Called once for each execution of a prepared statement, whether it succeeds or fails. Must not throw.
   * @param seconds from the wait for a connection to the last row
   * @param batchSize number of calls that share the execution
   */
  executed(statement: string, seconds: number, batchSize: number): void;
}

const observers = new WeakMap<Pool, StatementObserver>();

/** Of a connected DataSource, which has one observer at most. */
export function observeStatements(dataSource: DataSource, observer: StatementObserver): void {
  observers.set(poolOf(dataSource), observer);
}

export function observerOf(pool: Pool): StatementObserver | undefined {
  return observers.get(pool);
}
