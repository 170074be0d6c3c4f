import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { stopSignal } from './stop-signal.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

describe('stopSignal', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    for (const signal of SIGNALS) process.removeAllListeners(signal);
  });

  it.each(SIGNALS)('is aborted on %s', (signal) => {
    const stop = stopSignal(() => undefined);
    expect(stop.aborted).toBe(false);
    process.emit(signal, signal);
    expect(stop.aborted).toBe(true);
  });

  it('exits on a second Ctrl-C, but not if npm sends the first one again', () => {
    const calls: unknown[] = [];
    jest.spyOn(process, 'exit').mockImplementation((code) => calls.push(code) as never);
    stopSignal(() => calls.push('kill'));
    process.emit('SIGINT', 'SIGINT');
    jest.advanceTimersByTime(1_000);
    process.emit('SIGINT', 'SIGINT');
    expect(calls).toEqual([]);
    jest.advanceTimersByTime(1);
    process.emit('SIGINT', 'SIGINT');
    expect(calls).toEqual(['kill', 130]);
  });
});
