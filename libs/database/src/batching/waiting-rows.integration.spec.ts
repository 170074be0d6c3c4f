import { waitFor } from '@animal-store/local-postgres/testing';
import { describe, expect, it, jest } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { aLine, OrderLineEntity, OrderLineKeyEntity } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';
import { BatchedRepository } from './batched-repository.js';
import { runOnce } from './run-once.js';

const lines = useOrderLines();
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
    await whileLocked(locked, async (runner) => {
      const waiting: Promise<unknown>[] = [];
      const others: Promise<unknown>[] = [];
      for (const key of locked) {
        waiting.push(lines.first.insertOnce(aLine({ key: 'waits' }), keyOf(key)));
        for (let other = 0; other < 10; other++) others.push(lines.first.insertOnce(aLine(), keyOf(`${key} ${String(other)}`)));
        others.push(lines.first.insert(aLine()));
      }
      await Promise.all(others);
      expect(await lines.all()).toEqual(Array.from({ length: 66 }, () => 'first'));
      await runner.rollbackTransaction();
      await Promise.all(waiting);
    });
    expect(await lines.dataSource.getRepository(OrderLineEntity).countBy({ key: 'waits' })).toBe(locked.length);
  });

  it('fail after the statement timeout, without their row', async () => {
    const source = await lines.open({ statementTimeoutMs: 300 });
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    await whileLocked(['a', 'b'], async () => {
      const ends = await Promise.allSettled(['a', 'b', 'free'].map((key) => repository.insertOnce(aLine({ key }), keyOf(key))));
      expect(ends.map(({ status }) => status[0]).join('')).toBe('rrf');
      expect(ends[1]).toMatchObject({ reason: { code: '55P03' } });
    });
    await source.destroy();
    expect(await lines.all()).toEqual(['free']);
  });

  it('wait as long as that transaction lasts, if there is no statement timeout', async () => {
    const source = await lines.open({ statementTimeoutMs: 0 });
    const repository = new BatchedRepository(source.getRepository(OrderLineEntity), source.getRepository(OrderLineKeyEntity));
    const execute = jest.spyOn(source.pool, 'execute');
    await whileLocked(['a'], async (runner) => {
      const waiting = repository.insertOnce(aLine(), keyOf('a'));
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
    const execute = jest.spyOn(lines.dataSource.pool, 'execute');
    await whileLocked(['a'], async (runner) => {
      const repeated = [lines.first.insertOnce(aLine(), keyOf('a')), lines.second.insertOnce(aLine(), keyOf('a'))];
      await waitFor(() => expect(execute.mock.calls.length).toBeGreaterThanOrEqual(statements));
      execute.mockRestore();
      const request = JSON.stringify({ ...aLine({ key: 'the first' }), clientId: 1 });
      await runner.query(`UPDATE shop.order_line_keys SET line_id = 7, request = $1 WHERE key = 'a'`, [request]);
      await runner.commitTransaction();
      for (const result of await Promise.all(repeated)) expect(result).toMatchObject({ row: { id: 7n, key: 'the first' }, replayed: true });
    });
    expect(await lines.all()).toEqual([]);
  });
});

describe('commands with one key', () => {
  it('hold one connection of a process while the first one runs', async () => {
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
    await source.query('SELECT 1');
    finish();
    expect((await Promise.all(commands)).map(({ replayed }) => replayed)).toEqual([false, true, true, true, true]);
    await source.destroy();
  });
});
