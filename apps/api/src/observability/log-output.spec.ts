import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BoundedOutput } from './log-output.js';

const LOGGER = pathToFileURL(join(import.meta.dirname, '../../dist/observability/logger.js')).href;
const OUTPUT = pathToFileURL(join(import.meta.dirname, '../../dist/observability/log-output.js')).href;
const PINO = import.meta.resolve('pino');

describe('BoundedOutput', () => {
  let pending: ((error?: Error) => void)[];
  let written: string[];
  let reports: number[];
  let output: BoundedOutput;

  beforeEach(() => {
    [pending, written, reports] = [[], [], []];
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string, _encoding, done) => {
        written.push(chunk);
        pending.push(done);
      },
    });
    output = new BoundedOutput(stream, (lines) => reports.push(lines), 10);
  });

  const settle = () => new Promise(setImmediate);
  const accept = async (error?: Error) => {
    pending.shift()?.(error);
    await settle();
  };

  it('drops whole texts while too much waits, and reports their lines as soon as the reader accepts lines again', async () => {
    for (const line of ['1234\n', '5678\n', 'dropped\n', 'this\nand this\n']) output.write(line);
    expect([output.dropped, reports]).toEqual([3, []]);
    await accept();
    await accept();
    expect([written, reports]).toEqual([['1234\n', '5678\n'], [3]]);
    output.write('again\n');
    await accept();
    expect([output.dropped, reports]).toEqual([3, [3]]);
  });

  it('also reports lines that are dropped later', async () => {
    for (const round of [1, 2]) {
      for (const line of ['12345678\n', '1\n', 'dropped\n']) output.write(line);
      await accept();
      await accept();
      expect(reports).toHaveLength(round);
    }
    expect([output.dropped, reports]).toEqual([2, [1, 1]]);
  });

  it('waits until all lines are written, but not longer than the given time', async () => {
    output.write('1234\n');
    await output.flushed(20);
    expect(written).toHaveLength(1);
    let isFlushed = false;
    const flushed = output.flushed(60_000).then(() => (isFlushed = true));
    await settle();
    expect(isFlushed).toBe(false);
    await accept();
    await flushed;
  });

  it('counts lines that could not be written, and then begins a new line', async () => {
    const failing = Object.assign(new Error('no space left'), { code: 'ENOSPC' });

    const results = [failing, undefined];
    const texts: string[] = [];
    const stream = {
      writableLength: 0,
      on: () => undefined,
      write: (line: string, onWritten: (error?: Error) => void) => {
        texts.push(line);
        onWritten(results.shift());
      },
    };
    const failed = new BoundedOutput(stream, (lines) => reports.push(lines));
    failed.write('one\ntwo\n');
    expect([failed.dropped, reports]).toEqual([2, []]);
    failed.write('three\n');
    failed.write('four\n');
    expect([texts, failed.dropped, reports]).toEqual([['one\ntwo\n', '\nthree\n', 'four\n'], 2, [2]]);
  });

  it('does not wait for a terminal that the user has paused', () => {
    const setBlocking = jest.fn();
    const terminal = Object.assign(new Writable(), { isTTY: true, _handle: { setBlocking } });
    output = new BoundedOutput(terminal, () => undefined);
    expect(setBlocking.mock.calls).toEqual(process.platform === 'win32' ? [] : [[false]]);
  });
});

/** Logs rounds of 200 long lines from a process, then reports its memory and the lines that it dropped, and logs one more line. */
const program = (rounds: number) => `
  import { createLogger } from '${LOGGER}';
  const logger = createLogger('info');
  const path = '/' + 'x'.repeat(4000);
  for (let round = 0; round < ${String(rounds)}; round++) {
    for (let i = 0; i < 200; i++) logger.info({ path, i }, 'request');
    await new Promise(setImmediate);
  }
  const { rss } = process.memoryUsage();
  process.send({ megabytes: Math.round(rss / 1e6), dropped: logger.droppedLines() });
  process.on('message', async () => {
    logger.info('after');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await logger.flushed(60_000);
    process.exit(0);
  });`;

interface Flood {
  readonly megabytes: number;
  readonly dropped: number;
}

const flood = (stdout: 'pipe' | number, rounds = 10) =>
  spawn(process.execPath, ['--input-type=module', '--eval', program(rounds)], { stdio: ['ignore', stdout, 'inherit', 'ipc'] });

describe('a process whose log has', () => {
  it('a reader that stalls neither waits nor grows, and logs how many lines it dropped when the reader continues', async () => {
    const child = flood('pipe', 50);
    const [result] = (await once(child, 'message')) as [Flood];
    // 40 MB of lines, of which 4 MB and the buffer of the pipe are kept.
    expect(result.dropped).toBeGreaterThan(8_000);
    expect(result.megabytes).toBeLessThan(150);
    const output = text(child.stdout as NonNullable<typeof child.stdout>);
    child.send('continue');
    const [exitCode] = (await once(child, 'exit')) as [number];
    const lines = (await output)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; level: number; lines?: number });
    const reports = lines.filter(({ level }) => level === 40);
    expect(new Set(reports.map(({ msg }) => msg))).toEqual(new Set(['log lines were dropped because standard output did not accept them']));
    // Every line was written or counted.
    const dropped = reports.reduce((sum, report) => sum + (report.lines ?? 0), 0);
    expect([exitCode, lines.length - reports.length + dropped]).toEqual([0, 10_001]);
  });

  it('a reader that has ended continues', async () => {
    const child = flood('pipe');
    child.stdout?.destroy();
    const [result] = (await once(child, 'message')) as [Flood];
    expect(result.megabytes).toBeLessThan(150);
    child.send('continue');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('a full disk continues', async () => {
    if (process.platform !== 'linux') return;
    const full = openSync('/dev/full', 'w');
    const child = flood(full);
    closeSync(full);
    const [result] = (await once(child, 'message')) as [Flood];
    expect(result.megabytes).toBeLessThan(150);
    expect(result.dropped).toBeGreaterThan(1_800);
    child.send('continue');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

/** Logs a line and runs the statements in a new process, until it ends. */
async function run(statements: string, listeners = '') {
  const program = `
    import { pino } from '${PINO}';
    import { createBufferedDestination } from '${OUTPUT}';
    ${listeners}
    const destination = createBufferedDestination(process.stdout);
    const logger = pino({ level: 'info' }, destination);
    logger.info('first');
    ${statements}`;
  const child = spawn(process.execPath, ['--max-old-space-size=20', '--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output, [exitCode, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const messages = output.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { msg: string }).msg]));
  return { messages, exitCode: exitCode as number | null, signal: signal as string | null };
}

it.each([
  ['an exit', 'process.exit(3)', 3, null],
  ['an uncaught error', "throw new Error('a bug')", 1, null],
  ['SIGHUP', "process.kill(process.pid, 'SIGHUP'); setInterval(() => {}, 1000)", null, 'SIGHUP'],
])('%s loses no line', async (_, statements, exitCode, signal) => {
  expect(await run(statements)).toEqual({ messages: ['first'], exitCode, signal });
});

it.each([
  ['an abort', 'process.abort()'],
  ['running out of memory', 'const all = []; for (;;) all.push(new Array(1000).fill(all.length))'],
])('%s loses no warning or error, and no lines before them', async (_, statements) => {
  const { messages, signal } = await run(`logger.error('second'); ${statements}`);
  expect({ messages, signal }).toEqual({ messages: ['first', 'second'], signal: 'SIGABRT' });
});

const KILL = "process.kill(process.pid, 'SIGKILL'); for (;;);";

it.each([
  ['an immediate SIGKILL loses buffered lines', KILL, []],
  ['lines are written after 32 KiB', `logger.info('x'.repeat(32 * 1024)); logger.info('lost'); ${KILL}`, ['first', 'x'.repeat(32 * 1024)]],
  ['lines are written after 100 ms', `setTimeout(() => { ${KILL} }, 1_000)`, ['first']],
])('%s', async (_, statements, messages) => {
  expect(await run(statements)).toEqual({ messages, exitCode: null, signal: 'SIGKILL' });
});

it('buffers lines that are written without pino after an error', async () => {
  const { messages } = await run(`logger.error('second'); destination.write('{"msg":"lost"}\\n'); ${KILL}`);
  expect(messages).toEqual(['first', 'second']);
});

it('a signal does not end the process if there is another listener', async () => {
  const kill = "process.kill(process.pid, 'SIGHUP'); setTimeout(() => {}, 60_000);";
  const outcome = await run(kill, "process.on('SIGHUP', () => setTimeout(() => process.exit(7), 50));");
  expect(outcome).toEqual({ messages: ['first'], exitCode: 7, signal: null });
});
