import type { IdempotencyKey } from '@animal-store/kernel';
import { describe, expect, it, jest } from '@jest/globals';
import { waitFor } from '@animal-store/local-postgres/testing';
import type { QueryRunner } from 'typeorm';
import { aLine, OrderLineEntity, OrderLineKeyEntity } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';
import { BatchedRepository } from './batched-repository.js';
import { ExpireIdempotencyKeys } from './idempotency-keys.js';
import { runOnce } from './run-once.js';

const lines = useOrderLines();

describe('with a key, add', () => {
  const key: IdempotencyKey = { clientId: 1n, key: 'once' };

  it('inserts one row for concurrent repetitions in several processes', async () => {
    const results = await Promise.all(Array.from({ length: 30 }, (_, index) => (index % 2 ? lines.first : lines.second).add(aLine(), key)));
    expect(new Set(results.map(({ result }) => result.id)).size).toBe(1);
    expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await lines.all()).toHaveLength(1);
  });

  it('rejects another row with the key, while the first one is inserted and afterwards', async () => {
    const statements = lines.recordStatements();
    const reused = { code: 'idempotency_key_reused' };
    const [one, other] = await Promise.allSettled(['one', 'other'].map((name) => lines.first.add(aLine({ key: name }), key)));
    expect([one, other]).toMatchObject([{ value: { replayed: false } }, { reason: reused }]);
    await expect(lines.first.add(aLine({ key: 'other' }), key)).rejects.toMatchObject(reused);
    expect(await lines.all()).toEqual(['one']);
    const once = 'insert once shop.Order lines';
    expect(statements).toEqual([once, once, 'find by key shop.Order lines', 'list shop.Order lines']);
  });

  it('gives each concurrent call for a key the error of the database, and tries only once', async () => {
    await lines.dataSource.query('ALTER TABLE shop.order_line_keys RENAME TO gone');
    const statements = lines.recordStatements();
    const results = await Promise.allSettled([lines.first.add(aLine(), key), lines.first.add(aLine(), key)]);
    await lines.dataSource.query('ALTER TABLE shop.gone RENAME TO order_line_keys');
    expect(results).toEqual(Array.from(results, () => ({ status: 'rejected', reason: expect.objectContaining({ code: '42P01' }) })));
    expect(statements).toEqual(['insert once shop.Order lines']);
  });

  it.each([false, true])('inserts the other rows of a batch with a key that exists in few statements, sharded: %p', async (isSharded) => {
    const repository = isSharded ? lines.sharded : lines.first;
    await repository.add(aLine(), key);
    const statements = lines.recordStatements(isSharded);
    const keys = ['alone', 'once', ...Array.from({ length: 10 }, (_, index) => String(index))];
    const results = await Promise.all(keys.map((each) => repository.add(aLine(), { ...key, key: each })));
    expect(keys.filter((_, index) => results[index]?.replayed)).toEqual(['once']);
    // The key of another call fails the first statement of a sharded table. A batch that stalls on a busy machine does not block the next one.
    expect(statements.length).toBeLessThan(keys.length / 2);
  });

  it('distinguishes clients and keys', async () => {
    const others = [key, { ...key, clientId: 2n }, { ...key, key: 'Once' }];
    const results = await Promise.all(others.map((other) => lines.first.add(aLine(), other)));
    expect(results.map(({ replayed }) => replayed)).toEqual([false, false, false]);
  });

  it('never delays an insert without a key', async () => {
    const runner = lines.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`INSERT INTO shop.order_line_keys (client_id, key, line_id, request) VALUES (1, 'once', 0, '{}')`);
    const held = lines.first.add(aLine({ key: 'waits' }), key);
    await lines.insert(aLine({ key: 'goes on' }));
    expect(await lines.all()).toEqual(['goes on']);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await held).toMatchObject({ replayed: false });
  });

  it('does not deadlock with another process on the same keys', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 20 }, (_, index) => ({ clientId: 2n, key: `${String(round)} ${String(index)}` }));
      const results = await Promise.all([
        ...keys.map((one) => lines.first.add(aLine(), one)),
        ...keys.toReversed().map((one) => lines.second.add(aLine(), one)),
      ]);
      expect(results.filter(({ replayed }) => !replayed)).toHaveLength(20);
    }
    expect(await lines.dataSource.getRepository(OrderLineEntity).count()).toBe(400);
  });

  it('inserts again after the key was deleted, which happens after 24 hours by the clock of the database, in batches', async () => {
    await lines.first.add(aLine(), key);
    await lines.dataSource.query(
      `INSERT INTO shop.order_line_keys (client_id, key, line_id, request, created_at)
       SELECT 1, 'old ' || n, n, '{}', now() - interval '25 hours' + n * interval '1 ms' FROM generate_series(1, 25000) AS n`,
    );
    await lines.dataSource.query(
      `INSERT INTO shop.order_line_keys (client_id, key, line_id, request, created_at) VALUES (1, 'young', 1, '{}', now() - interval '23 hours 59 minutes')`,
    );
    await lines.dataSource.transaction(async (manager) => {
      await manager.query('SELECT FROM shop.order_line_keys FOR UPDATE');
      await expect(new ExpireIdempotencyKeys(lines.dataSource).execute()).rejects.toMatchObject({ code: '55P03' });
    });
    // A statement per 10,000 keys: 500 keys per statement were slower than 50,000 creations per second.
    const query = jest.spyOn(lines.dataSource, 'query');
    expect(await new ExpireIdempotencyKeys(lines.dataSource).execute()).toBe(25_000);
    expect(query.mock.calls.filter(([text]) => text.includes('order_line_keys'))).toHaveLength(3);
    query.mockRestore();
    expect(await new ExpireIdempotencyKeys(lines.dataSource).execute()).toBe(0);
    const remaining = await lines.dataSource.getRepository(OrderLineKeyEntity).find({ order: { key: 'ASC' } });
    expect(remaining.map((record) => record.key)).toEqual(['once', 'young']);
    expect(await lines.second.add(aLine(), key)).toMatchObject({ replayed: true });
    expect(await lines.second.add(aLine(), { ...key, key: 'old 1' })).toMatchObject({ replayed: false });
  });

  it("returns the row's value of a column that was added after the request was recorded", async () => {
    const {
      result: { id },
    } = await lines.first.add(aLine({ quantity: 7, note: 'original' }), key);
    await lines.dataSource.query(`UPDATE shop.order_line_keys SET request = request - 'quantity' - 'ordinal'`);
    await lines.dataSource.query(`UPDATE shop."Order lines" SET quantity = 9, ordinal = 5, note = 'changed'`);
    const row = aLine({ quantity: 9, ordinal: 5n, note: 'original' });
    expect(await lines.second.add(row, key)).toEqual({ result: { id, ...row }, replayed: true });
  });

  it('requires a table of keys', async () => {
    const keyless = new BatchedRepository(lines.dataSource.getRepository(OrderLineEntity));
    await expect(keyless.add(aLine(), key)).rejects.toThrow('An idempotency key requires a repository for keys.');
  });
});

const keyOf = (key: string) => ({ clientId: 1n, key });

/** Runs `work` while another transaction has recorded the keys and is open. */
async function whileLocked(keys: readonly string[], work: (runner: QueryRunner) => Promise<void>): Promise<void> {
  const runner = lines.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    for (const key of keys)
      await runner.query(`INSERT INTO shop.order_line_keys (client_id, key, line_id, request) VALUES (1, $1, 0, '{}')`, [key]);
    await work(runner);
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

describe('rows that wait for an open transaction', () => {
  it('do not delay the others of their batch or of later ones, with and without keys', async () => {
    const locked = ['a', 'b', 'c', 'd', 'e', 'f'];
    await lines.dataSource.query(`CREATE UNIQUE INDEX probe ON shop."Order lines" (quantity) WHERE key = 'waits' AND quantity = 0`);
    await whileLocked(locked, async (runner) => {
      await runner.manager.insert(OrderLineEntity, aLine({ key: 'waits', quantity: 0 }));
      const waiting: Promise<unknown>[] = [lines.insert(aLine()), lines.insert(aLine({ key: 'waits', quantity: 0 }))];
      const others: Promise<unknown>[] = [];
      for (const key of locked) {
        waiting.push(lines.first.add(aLine({ key: 'waits' }), keyOf(key)));
        for (let other = 0; other < 10; other++) others.push(lines.first.add(aLine(), keyOf(`${key} ${String(other)}`)));
        others.push(lines.insert(aLine()));
      }
      await Promise.all(others);
      expect(await lines.all()).toEqual(Array.from({ length: 67 }, () => 'first'));
      const waitingStatements = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(((await runner.query(waitingStatements)) as unknown[]).length).toBeLessThanOrEqual(3);
      await runner.rollbackTransaction();
      await Promise.all(waiting);
    });
    expect(await lines.dataSource.getRepository(OrderLineEntity).countBy({ key: 'waits' })).toBe(locked.length + 1);
    await lines.dataSource.query('DROP INDEX shop.probe');
  });

  it('fail after the statement timeout, without their row', async () => {
    const source = await lines.open({ statementTimeoutMs: 300 });
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    const execute = jest.spyOn(source.pool, 'withClient');
    await whileLocked(['a', 'b'], async () => {
      const ends = await Promise.allSettled(['a', 'b', 'free'].map((key) => repository.add(aLine({ key }), keyOf(key))));
      expect(ends.map(({ status }) => status[0]).join('')).toBe('rrf');
      expect(ends[1]).toMatchObject({ reason: { code: '55P03' } });
      // Each attempt waits for 100 ms.
      expect(execute.mock.calls.length).toBeLessThan(20);
    });
    await source.destroy();
    expect(await lines.all()).toEqual(['free']);
  });

  it('wait as long as that transaction lasts, if there is no statement timeout', async () => {
    const source = await lines.open({ statementTimeoutMs: 0 });
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    const execute = jest.spyOn(source.pool, 'withClient');
    await whileLocked(['a'], async (runner) => {
      const waiting = repository.add(aLine(), keyOf('a'));
      waiting.catch(() => undefined);
      await Promise.race([waiting, waitFor(() => expect(execute.mock.calls.length).toBeGreaterThan(4))]);
      await runner.rollbackTransaction();
      expect(await waiting).toMatchObject({ replayed: false });
    });
    await source.destroy();
  });

  it.each([
    ['first statement', 0],
    ['later statements, each alone', 8],
  ])('replay the result of a creation that commits during their %s', async (_which, statements) => {
    const execute = jest.spyOn(lines.dataSource.pool, 'withClient');
    await whileLocked(['a'], async (runner) => {
      const row = aLine({ key: 'the first' });
      const repeated = [lines.first, lines.second].map((each) => each.add(row, keyOf('a')));
      await waitFor(() => expect(execute.mock.calls.length).toBeGreaterThanOrEqual(statements));
      execute.mockRestore();
      const request = JSON.stringify({ ...row, clientId: 1 });
      await runner.query(`UPDATE shop.order_line_keys SET line_id = 7, request = $1 WHERE key = 'a'`, [request]);
      await runner.commitTransaction();
      for (const result of await Promise.all(repeated)) expect(result).toEqual({ result: { id: 7n, ...row }, replayed: true });
    });
    expect(await lines.all()).toEqual([]);
  });
});

describe('commands with one key', () => {
  it('hold one connection of a process while the first one runs, and delay no other client', async () => {
    const source = await lines.open({ poolSize: 2 });
    let finish: () => void = () => undefined;
    let runs = 0;
    const run = () =>
      runOnce(source, OrderLineKeyEntity, keyOf('command'), { command: 'send' }, async () => {
        runs++;
        await new Promise<void>((resolve) => (finish = resolve));
      });
    const commands = Array.from({ length: 5 }, run);
    await waitFor(() => expect(runs).toBe(1));
    await runOnce(source, OrderLineKeyEntity, { clientId: 2n, key: 'command' }, { command: 'send' }, () => Promise.resolve());
    finish();
    expect((await Promise.all(commands)).map(({ replayed }) => replayed)).toEqual([false, true, true, true, true]);
    await source.destroy();
  });
});
