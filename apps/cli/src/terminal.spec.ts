import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { confirm, progressBar } from './terminal.js';

describe('confirm', () => {
  it.each([
    ['y\n', true],
    ['YES\n', true],
    [' yes \n', true],
    ['\n', false],
    ['n\n', false],
    ['yesterday\n', false],
    // Ctrl-D
    ['', false],
  ])('%j means %s', async (answer, expected) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answered = confirm(input, output, 'Sure?');
    input.end(answer);
    expect(await answered).toBe(expected);
    output.end();
    expect(await text(output)).toContain('Sure? [y/N] ');
  });

  it('stops reading after the answer', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const answered = confirm(input, output, 'Sure?');
    input.write('y\n');
    expect(await answered).toBe(true);
    expect(input.isPaused()).toBe(true);
    expect(input.listenerCount('end')).toBe(0);
  });
});

describe('progressBar', () => {
  beforeAll(() => void jest.useFakeTimers());
  afterAll(() => void jest.useRealTimers());

  const drawn = (isTTY: boolean) => {
    const texts: string[] = [];
    const bar = progressBar({ isTTY, write: (text) => texts.push(text) }, 2_000);
    bar.update(1_000);
    jest.advanceTimersByTime(99);
    bar.update(1_001);
    jest.advanceTimersByTime(1);
    bar.update(1_500);
    bar.clear();
    return texts;
  };

  it('is drawn on a terminal at most every 100 ms, and cleared', () => {
    expect(drawn(true)).toEqual([
      `\r[${'#'.repeat(15)}${' '.repeat(15)}]  50 %  1,000 of 2,000`,
      `\r[${'#'.repeat(23)}${' '.repeat(7)}]  75 %  1,500 of 2,000`,
      '\r\u001b[K',
    ]);
  });

  it('writes nothing without a terminal', () => expect(drawn(false)).toEqual([]));
});
