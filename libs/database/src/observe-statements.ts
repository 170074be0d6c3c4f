import type { DataSource } from 'typeorm';
import { poolOf, replicasOf } from './data-source.js';
import { setObserver, type StatementObserver } from './statement-observer.js';

/** Sets the observer of a connected DataSource and its replicas. */
export function observeStatements(dataSource: DataSource, observer: StatementObserver): void {
  for (const executor of [poolOf(dataSource), replicasOf(dataSource)]) {
    if (executor) setObserver(executor, observer);
  }
}
