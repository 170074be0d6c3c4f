import { DomainError, IDEMPOTENCY_KEY_REUSED, type IdempotencyKey } from '@animal-store/kernel';
import { describe, expect, it } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { aLine, OrderLineEntity, OrderLineKeyEntity } from '../testing/order-lines.js';
import { useOrderLines } from '../testing/use-order-lines.js';
import { BatchedRepository } from './batched-repository.js';
import { runOnce } from './run-once.js';

const lines = useOrderLines();
const key: IdempotencyKey = { clientId: 1n, key: 'once' };
const reused = expect.objectContaining({ name: 'DomainError', code: IDEMPOTENCY_KEY_REUSED.code });

const insert = (manager: EntityManager, values = {}) => manager.insert(OrderLineEntity, aLine(values));
type Request = Parameters<typeof runOnce>[3];
const once = <Result>(request: Request, command: (manager: EntityManager) => Promise<Result>, dataSource = lines.dataSource, used = key) =>
  runOnce(dataSource, OrderLineKeyEntity, used, request, command);
const keys = () => lines.dataSource.getRepository(OrderLineKeyEntity).find();

describe('runOnce', () => {
  it('returns the recorded result of an equal request, and rejects another one', async () => {
    const result = {
      id: 2n ** 63n - 1n,
      at: new Date('2026-11-22T10:00:00.123Z'),
      text: 'n1\u0000 "d" \ud800',
      nothing: null,
      list: [1n, 'one', { two: 2.5 }],
      isGift: false,
    };
    const run = async (request: Request) =>
      once(request, async (manager) => {
        await insert(manager);
        return result;
      });
    expect(await run({ command: 'send', id: 1n, to: 'Ann' })).toEqual({ result, replayed: false });
    const replayed = await run({ to: 'Ann', command: 'send', id: 1n, note: undefined });
    expect(replayed).toEqual({ result, replayed: true });
    expect(Object.keys(replayed.result)).toEqual(Object.keys(result));
    for (const other of [
      { command: 'send', id: 2n, to: 'Ann' },
      { command: 'send', id: '1', to: 'Ann' },
      { command: 'send', id: 1n },
    ])
      await expect(run(other)).rejects.toEqual(reused);
    expect(await lines.all()).toHaveLength(1);
  });

  it('takes effect once for concurrent calls in several processes, which all get the same result', async () => {
    const sources = [lines.dataSource, await lines.open(), await lines.open()];
    let runs = 0;
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        once(
          { command: 'send' },
          async (manager) => {
            runs++;
            await insert(manager);
            return { by: index };
          },
          sources[index % 3],
        ),
      ),
    );
    await Promise.all(sources.slice(1).map((source) => source.destroy()));
    expect(runs).toBe(1);
    expect(new Set(outcomes.map(({ result }) => result.by)).size).toBe(1);
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await lines.all()).toHaveLength(1);
  });

  it('runs the command of a call that waited for another one of its process, which failed', async () => {
    const { promise: failure, reject: fail } = Promise.withResolvers<never>();
    const failing = expect(once({ command: 'send' }, () => failure)).rejects.toThrow('no');
    const waiting = once({ command: 'send' }, () => Promise.resolve('done'));
    fail(new Error('no'));
    await failing;
    expect(await waiting).toEqual({ result: 'done', replayed: false });
  });

  it('records nothing if the command fails', async () => {
    const NO = { code: 'no', kind: 'conflict', message: 'No.' } as const;
    const fail = () =>
      once({ command: 'send' }, async (manager) => {
        await insert(manager);
        throw new DomainError(NO);
      });
    await expect(fail()).rejects.toMatchObject(NO);
    const tooLong = () => once({ command: 'send' }, () => Promise.resolve('x'.repeat(65_524)));
    await expect(tooLong()).rejects.toThrow('at most 65536 characters');
    expect([await lines.all(), await keys()]).toEqual([[], []]);
    await once({ command: 'send' }, () => Promise.resolve('x'.repeat(65_523)), lines.dataSource, { ...key, key: 'long' });
    expect(await once({ command: 'send' }, () => Promise.resolve(undefined))).toEqual({ result: undefined, replayed: false });
    expect(await once({ command: 'send' }, fail)).toEqual({ result: undefined, replayed: true });
  });

  it('without a key runs the command in a transaction each time, and records nothing', async () => {
    const run = (fails: boolean) =>
      runOnce(lines.dataSource, OrderLineKeyEntity, undefined, { command: 'send' }, async (manager) => {
        await insert(manager);
        if (fails) throw new Error('no');
      });
    for (const fails of [false, true, false]) await run(fails).catch(() => undefined);
    expect([await lines.all(), await keys()]).toEqual([['first', 'first'], []]);
  });

  it.each([key, undefined])('runs the command again after a deadlock, with the key %p', async (used) => {
    let runs = 0;
    const outcome = await runOnce(lines.dataSource, OrderLineKeyEntity, used, { command: 'send' }, async (manager) => {
      await insert(manager);
      if (runs++ === 0) await manager.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$`);
      return runs;
    });
    expect(outcome).toEqual({ result: 2, replayed: false });
    expect(await lines.all()).toHaveLength(1);
  });

  it.each(['RETURN NULL', 'NEW.client_id := 9; RETURN NEW'])('fails if the key cannot be stored: %s', async (body) => {
    await lines.dataSource.query(`
      CREATE FUNCTION shop.reject() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN ${body}; END';
      CREATE TRIGGER reject BEFORE INSERT ON shop.order_line_keys FOR EACH ROW EXECUTE FUNCTION shop.reject()`);
    try {
      await expect(once({ command: 'send' }, insert)).rejects.toThrow('did not store a row of "shop"."order_line_keys"');
    } finally {
      await lines.dataSource.query('DROP FUNCTION shop.reject CASCADE');
    }
    expect(await lines.all()).toEqual([]);
  });

  it('rejects a batched repository in a command, because its statements would not be part of the transaction', async () => {
    const run = () => once({ command: 'send' }, (manager) => new BatchedRepository(manager.getRepository(OrderLineEntity)).add(aLine()));
    await expect(run()).rejects.toThrow('not part of a transaction');
    expect(await lines.all()).toEqual([]);
  });

  it('may be repeated after a connection was lost during the commit', async () => {
    const source = await lines.open();
    const run = () =>
      once(
        { command: 'send' },
        async (manager) => {
          await insert(manager);
          return 'sent';
        },
        source,
      );
    const createQueryRunner = source.createQueryRunner.bind(source);
    source.createQueryRunner = (mode) => {
      const runner = createQueryRunner(mode);
      const commit = runner.commitTransaction.bind(runner);
      runner.commitTransaction = async () => {
        await commit();
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      };
      return runner;
    };
    await expect(run()).rejects.toThrow('ECONNRESET');
    source.createQueryRunner = createQueryRunner;
    expect(await run()).toEqual({ result: 'sent', replayed: true });
    await source.destroy();
    expect(await lines.all()).toHaveLength(1);
  });
});

describe('a key of a client', () => {
  const others: IdempotencyKey[] = [
    { ...key, clientId: 2n },
    { ...key, key: 'Once' },
  ];

  it('is another one than that of another client, or with other letters', async () => {
    const send = (used: IdempotencyKey) => once({ command: 'send' }, () => Promise.resolve(used), lines.dataSource, used);
    for (const replayed of [false, true]) for (const used of [key, ...others]) expect(await send(used)).toEqual({ result: used, replayed });
  });

  it('is either for a creation or for a command', async () => {
    await lines.first.add(aLine(), key);
    await expect(once({ command: 'send' }, () => Promise.resolve(1))).rejects.toEqual(reused);
    const [other] = others as [IdempotencyKey];
    await once({ command: 'send' }, () => Promise.resolve(1), lines.dataSource, other);
    const created = await Promise.allSettled([
      lines.first.add(aLine(), { clientId: 3n, key: 'a' }),
      ...['b', 'c'].map((name) => lines.first.add(aLine(), { clientId: 3n, key: name })),
      lines.first.add(aLine(), other),
    ]);
    expect(created.map(({ status }) => status[0]).join('')).toBe('fffr');
    expect(created[3]).toEqual({ status: 'rejected', reason: reused });
    expect(await lines.all()).toHaveLength(4);
  });
});
