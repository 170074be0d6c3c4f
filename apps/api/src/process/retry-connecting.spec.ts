import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { retryConnecting } from './retry-connecting.js';

const reachesAtSecondAttempt = (attempt: number, onReached: () => void) => {
  if (attempt === 2) onReached();
};

const unavailable = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

interface Run {
  readonly failures: number;
  readonly error?: Error;
  readonly stopAfter?: number;
  readonly onAttempt?: (attempt: number, onReached: () => void) => void;
}

/** Runs work that fails several times, and returns what was logged and called. */
async function run({ failures, error = unavailable, stopAfter = Infinity, onAttempt }: Run) {
  const lines: string[] = [];
  const delays: number[] = [];
  const stopping = new AbortController();
  let attempts = 0;
  let unavailableCalls = 0;
  const work = (onReached: () => void) => {
    attempts++;
    onAttempt?.(attempts, onReached);
    if (attempts >= stopAfter) stopping.abort();
    return attempts > failures ? Promise.resolve() : Promise.reject(error);
  };
  const outcome = await retryConnecting(work, {
    explain: (reason) => `explained: ${(reason as Error).message}`,
    logger: pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    signal: stopping.signal,
    onUnavailable: () => {
      unavailableCalls++;
    },
    sleep: (ms) => Promise.resolve(delays.push(ms)),
  }).catch((reason: unknown) => reason);
  return { outcome, lines, attempts, unavailableCalls, delays };
}

describe('retryConnecting', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('logs nothing if the first attempt succeeds', async () => {
    expect(await run({ failures: 0 })).toEqual({ outcome: undefined, lines: [], attempts: 1, unavailableCalls: 0, delays: [] });
  });

  it('logs the first failure and the success, for any number of attempts', async () => {
    expect(await run({ failures: 3 })).toEqual({
      outcome: undefined,
      lines: ['explained: connect ECONNREFUSED; retrying', 'connected to the database'],
      attempts: 4,
      unavailableCalls: 3,
      delays: [100, 200, 400],
    });
  });

  it('logs once that the database is reached, while the work still waits', async () => {
    const { lines } = await run({ failures: 1, onAttempt: reachesAtSecondAttempt });
    expect(lines).toEqual(['explained: connect ECONNREFUSED; retrying', 'connected to the database']);
  });

  it('logs a failure after the database was reached', async () => {
    const { lines } = await run({ failures: 2, onAttempt: reachesAtSecondAttempt });
    const failure = 'explained: connect ECONNREFUSED; retrying';
    expect(lines).toEqual([failure, 'connected to the database', failure, 'connected to the database']);
  });

  it('waits at most one second between attempts', async () => {
    expect(await run({ failures: 6 })).toMatchObject({ delays: [100, 200, 400, 800, 1_000, 1_000] });
  });

  it('repeats the warning once a minute', async () => {
    // Times of the failures, in milliseconds from the start.
    const failures = [0, 59_999, 60_000, 119_999, 120_000];
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    const onAttempt = (attempt: number) => {
      time = failures[attempt - 1] ?? time;
    };
    const { lines, attempts } = await run({ failures: failures.length, onAttempt });
    const warning = 'explained: connect ECONNREFUSED; retrying';
    expect({ lines, attempts }).toEqual({ lines: [warning, warning, warning, 'connected to the database'], attempts: failures.length + 1 });
  });

  it('throws errors that are not temporary immediately', async () => {
    const error = Object.assign(new Error('the server does not support TLS'), { code: '08001' });
    expect(await run({ failures: 3, error })).toEqual({ outcome: error, lines: [], attempts: 1, unavailableCalls: 0, delays: [] });
  });

  it('ends when it is aborted', async () => {
    expect(await run({ failures: Infinity, stopAfter: 2 })).toMatchObject({
      outcome: undefined,
      attempts: 2,
      unavailableCalls: 1,
      delays: [100],
    });
  });
});
