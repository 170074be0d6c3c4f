import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { stopSignal } from './stop-signal.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

describe('stopSignal', () => {
  const { ppid } = process;
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    for (const signal of SIGNALS) process.removeAllListeners(signal);
    Object.defineProperty(process, 'ppid', { value: ppid });
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

  it.each([
    ['start', true],
    [undefined, false],
  ])('with npm_lifecycle_event=%s, is aborted when the parent is gone: %s', (event, aborted) => {
    jest.replaceProperty(process, 'env', { ...(event && { npm_lifecycle_event: event }) });
    const stop = stopSignal(() => undefined);
    jest.advanceTimersByTime(100);
    expect(stop.aborted).toBe(false);
    Object.defineProperty(process, 'ppid', { value: 1, configurable: true });
    jest.advanceTimersByTime(100);
    expect(stop.aborted).toBe(aborted);
  });
});
