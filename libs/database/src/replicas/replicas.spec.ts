import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client, DatabaseError, type Pool } from 'pg';
import { type PreparedExecution, PreparedStatement } from '../statements/prepared-statement.js';
import { Replicas } from './replicas.js';
import type { Columns } from '../connection/statement.js';

const LIST = new PreparedStatement('list things', 'SELECT', ([text]: Columns) => text);
const CLUSTER = '7302947561038214';
/** Of the beginning of a statement's name. */
const HASH_LENGTH = 12;

type Row = readonly (string | null)[];

/** A server with a position in the WAL. Counts its connections and the checked out ones. */
class FakePool extends EventEmitter {
  position = 100n;
  /** Number of times that it reports a position before `position`. */
  lags = 0;
  system = CLUSTER;
  isReplica = true;
  /** Fails statements whose name matches, with the error. */
  failure: { readonly name: RegExp; readonly error: Error } | undefined;
  /** Awaited by each connection. */
  connecting: Promise<void> = Promise.resolve();
  readonly statements: string[] = [];
  checkedOut = 0;
  /** Number of connections that were released as broken. */
  discarded = 0;
  hasEnded = false;

  constructor(readonly name: string) {
    super();
  }

  async withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await this.connect();
    try {
      return await work(client as unknown as Client);
    } finally {
      client.release();
    }
  }

  async connect() {
    await this.connecting;
    this.checkedOut++;
    return {
      query: (execution: PreparedExecution<unknown, Columns>) => {
        const name = execution.name.slice(HASH_LENGTH);
        this.statements.push(name);
        const { failure } = this;
        if (failure?.name.test(name)) {
          execution.callback(failure.error);
          return;
        }
        for (const fields of this.rowsOf(name)) execution.handleDataRow({ fields });
        execution.handleReadyForQuery();
      },
      release: (isBroken?: boolean) => {
        this.checkedOut--;
        if (isBroken) this.discarded++;
      },
    };
  }

  async end(): Promise<void> {
    this.hasEnded = true;
  }

  private rowsOf(statement: string): Row[] {
    if (statement === 'position of the primary') return [[String(this.position), this.system]];
    if (statement === 'position of the replica') {
      return this.isReplica ? [[String(this.lags-- > 0 ? this.position - 1n : this.position), this.system]] : [];
    }
    return [[this.name]];
  }
}

const withCode = (code: string) => Object.assign(new DatabaseError(code, 0, 'error'), { code });

let primary: FakePool;
let one: FakePool;
let other: FakePool;
let replicas: Replicas;
let servedBy: string[];
let changes: (readonly [string, string | undefined])[];

function create(...pools: FakePool[]): Replicas {
  [servedBy, changes] = [[], []];
  replicas = new Replicas(
    () => primary,
    pools.map((pool) => ({ name: pool.name, pool: pool as unknown as Pool })),
    { read: (server) => servedBy.push(server), changed: (...change) => changes.push(change) },
  );
  return replicas;
}

beforeEach(() => {
  [primary, one, other] = ['primary', 'one', 'other'].map((name) => new FakePool(name)) as [FakePool, FakePool, FakePool];
  create(one, other);
});

afterEach(async () => {
  await replicas.close();
  // Each connection is back in its pool, whatever happened.
  await waitFor(() => expect([primary, one, other].map(({ checkedOut }) => checkedOut)).toEqual([0, 0, 0]));
});

const list = async () => (await LIST.run(replicas, []))[0];
const problems = () => Object.fromEntries(replicas.problems);
const probed = async (expected: Record<string, string | undefined> = { one: undefined, other: undefined }) => {
  replicas.start();
  await waitFor(() => expect(problems()).toEqual(expected));
};

describe('before the first probe', () => {
  it('the primary serves lists, and no replica is asked', async () => {
    expect(problems()).toEqual({ one: 'it is not connected yet', other: 'it is not connected yet' });
    expect(await list()).toBe('primary');
    expect(servedBy).toEqual(['primary']);
    expect([one.statements, other.statements, primary.statements]).toEqual([[], [], ['list things']]);
  });
});

describe('replicas that are up to date', () => {
  it('serve lists in turn', async () => {
    await probed();
    expect(changes).toEqual([
      ['one', undefined],
      ['other', undefined],
    ]);
    expect([await list(), await list(), await list(), await list()]).toEqual(['one', 'other', 'one', 'other']);
    expect(servedBy).toEqual(['replica', 'replica', 'replica', 'replica']);
    expect(primary.statements).not.toContain('list things');
  });

  it('share the position of the primary between concurrent lists', async () => {
    await probed();
    const asked = () => primary.statements.filter((name) => name === 'position of the primary').length;
    const before = asked();
    await Promise.all([list(), list(), list(), list()]);
    // The first one does not wait for the others.
    expect(asked() - before).toBe(2);
  });
});

describe('a replica', () => {
  it('that is ahead of the primary serves lists', async () => {
    one.position = 101n;
    create(one);
    await probed({ one: undefined });
    expect(await list()).toBe('one');
  });

  it('that lags serves a list as soon as it has caught up', async () => {
    create(one);
    await probed({ one: undefined });
    one.lags = 1;
    expect(await list()).toBe('one');
    expect(one.statements.slice(-3)).toEqual(['position of the replica', 'position of the replica', 'list things']);
    expect(changes).toEqual([['one', undefined]]);
  });

  it('that lags for 100 ms is excluded, and the primary serves the list', async () => {
    create(one);
    await probed({ one: undefined });
    const before = one.statements.length;
    one.lags = Infinity;
    expect(await list()).toBe('primary');
    expect(servedBy).toEqual(['primary']);
    expect(problems()).toEqual({ one: 'the replica was not up to date within 100 ms' });
    // The pauses between the attempts grow.
    expect(one.statements.length - before).toBeLessThan(20);
    // Not asked again until a probe succeeds.
    const asked = one.statements.length;
    expect(await list()).toBe('primary');
    expect(one.statements).toHaveLength(asked);
    one.lags = 0;
    await waitFor(() => expect(problems()).toEqual({ one: undefined }));
    expect(await list()).toBe('one');
    expect(changes.map(([, problem]) => problem)).toEqual([undefined, 'the replica was not up to date within 100 ms', undefined]);
  });

  it.each([
    ['is a primary', () => (one.isReplica = false), 'the server is not a replica'],
    ['is of another cluster', () => (one.system = '1'), 'the server is a replica of another database cluster'],
    ['fails', () => (one.failure = { name: /replica/, error: new Error('broken') }), 'broken'],
  ])('that %s is excluded, and its connection is closed', async (_what, happen, problem) => {
    happen();
    await probed({ one: problem, other: undefined });
    expect(one.discarded).toBe(1);
    expect([await list(), await list()]).toEqual(['other', 'other']);
  });

  it('that fails during a list is excluded, its connection is closed, and the primary serves the list', async () => {
    create(one);
    await probed({ one: undefined });
    one.failure = { name: /^list/, error: new Error('terminated') };
    expect(await list()).toBe('primary');
    expect(problems()).toEqual({ one: 'terminated' });
    expect(one.discarded).toBe(1);
  });

  it.each([
    ['22003', undefined],
    ['42601', undefined],
    ['57014', '57014'],
  ])('that rejects a statement with %s has the problem %s, and the primary executes the statement', async (code, problem) => {
    create(one);
    await probed({ one: undefined });
    one.failure = { name: /^list/, error: withCode(code) };
    expect(await list()).toBe('primary');
    expect(problems()).toEqual({ one: problem });
  });

  it('that does not respond is excluded, and its connection is released once it is open', async () => {
    create(one);
    await probed({ one: undefined });
    const { promise, resolve: respond } = Promise.withResolvers<void>();
    one.connecting = promise;
    expect(await list()).toBe('primary');
    const asked = one.statements.length;
    respond();
    await waitFor(() => expect(problems()).toEqual({ one: undefined }));
    expect(one.discarded).toBe(0);
    expect(one.statements.length).toBeGreaterThanOrEqual(asked);
  });

  it('survives the error of an idle connection', () => {
    expect(() => one.emit('error', new Error('lost'))).not.toThrow();
  });
});

describe('a primary that', () => {
  const lose = (error: Error) => (primary.failure = { name: /position/, error });

  it('is unavailable fails lists, and the replicas keep their state', async () => {
    await probed();
    lose(withCode('57P01'));
    await expect(list()).rejects.toMatchObject({ code: '57P01' });
    const asked = primary.statements.length;
    await waitFor(() => expect(primary.statements.length).toBeGreaterThan(asked));
    await setImmediate();
    expect(problems()).toEqual({ one: undefined, other: undefined });
    expect(servedBy).toEqual([]);
  });

  it('cannot tell its position for another reason serves lists, and the replicas are excluded', async () => {
    await probed();
    lose(withCode('0A000'));
    expect(await list()).toBe('primary');
    await waitFor(() => expect(problems()).toEqual({ one: '0A000', other: '0A000' }));
  });
});

describe('close()', () => {
  it('closes the pools and ends the probes', async () => {
    await probed();
    await replicas.close();
    expect([one.hasEnded, other.hasEnded, primary.hasEnded]).toEqual([true, true, false]);
    await setImmediate();
    const asked = primary.statements.length;
    for (let i = 0; i < 10; i++) await setImmediate();
    expect(primary.statements).toHaveLength(asked);
  });
});
