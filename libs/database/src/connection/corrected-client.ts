import { Client } from 'pg';

/** Statements that write, also in a common table expression. */
const WRITES = /\b(?:INSERT|UPDATE|DELETE|MERGE)\b/i;
const STARTS_TRANSACTION = /^\s*(?:BEGIN|START TRANSACTION)\b/i;

type Callback = (error: Error | null | undefined, result?: unknown) => void;
type Query = (...args: unknown[]) => never;

/**
 * A client that can correct settings for each write. Behind a pooler, a transaction may run in any session, so settings that must hold are set
 * in the transaction. This takes three more round trips, and is only used if the role has a value that would lose or change data.
 */
export class CorrectedClient extends Client {
  /** `SET LOCAL` statements for each transaction that writes. */
  protected corrections: string | undefined;

  /** Returns what `pg` returns. `never` is compatible with all its overloads. */
  override query(...args: unknown[]): never {
    const { corrections } = this;
    if (corrections === undefined || this.getTransactionStatus() !== 'I') return (super.query as Query).apply(this, args);
    const text = textOf(args[0]);
    const isTransaction = STARTS_TRANSACTION.test(text);
    if (!isTransaction && !WRITES.test(text)) return (super.query as Query).apply(this, args);
    const callback = args.findLast((each) => typeof each === 'function') as Callback | undefined;
    const given = callback ? args.slice(0, args.lastIndexOf(callback)) : args;
    const done = isTransaction ? this.begin(given, corrections) : this.write(given, corrections);
    if (!callback) return done as never;
    done.then((result) => {
      callback(null, result);
    }, callback);
    return undefined as never;
  }

  private async begin(statement: readonly unknown[], corrections: string): Promise<unknown> {
    const started = await this.run(statement);
    await this.run([corrections]);
    return started;
  }

  private async write(statement: readonly unknown[], corrections: string): Promise<unknown> {
    await this.run([`BEGIN; ${corrections}`]);
    try {
      return await this.run(statement);
    } finally {
      // Rolls back if the statement has failed.
      await this.run(['COMMIT']);
    }
  }

  /** With a callback, because a Submittable needs one. */
  private run([statement, values]: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, result) => {
        if (error) reject(error);
        else resolve(result);
      };
      (super.query as Query).call(this, statement, values, done);
    });
  }
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text } = (statement ?? {}) as { text?: unknown };
  return typeof text === 'string' ? text : '';
}
