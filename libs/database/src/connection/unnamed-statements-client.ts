import { DatabaseClient } from './database-client.js';
import { Execution } from './prepared-statement.js';

/** Removes the names of statements. PgBouncer before 1.21 in transaction mode loses named statements when it switches connections. */
export class UnnamedStatementsClient extends DatabaseClient {
  /** Returns what `pg` returns. `never` is compatible with all its overloads. */
  override query(statement: unknown, ...rest: unknown[]): never {
    return (super.query as (...args: unknown[]) => never).call(this, removeName(statement), ...rest);
  }
}

function removeName(statement: unknown): unknown {
  if (statement instanceof Execution) return statement.withoutName();
  return typeof statement === 'object' && statement !== null && 'name' in statement ? { ...statement, name: undefined } : statement;
}
