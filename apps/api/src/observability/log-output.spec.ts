import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const LOGGER = pathToFileURL(join(import.meta.dirname, '../../dist/observability/logger.js')).href;

/** Logs 10,000 lines of 4 kB from a process, then sends its memory and the lines that it dropped, logs one more line, and exits. */
const FLOOD = `
  const path = '/' + 'x'.repeat(4000);
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 200; i++) logger.info({ path, i }, 'request');
    await new Promise(setImmediate);
  }
  const { rss } = process.memoryUsage();
  process.send({ megabytes: Math.round(rss / 1e6), dropped: logger.output.dropped });
  process.on('message', async () => {
    logger.info('after');
    await logger.output.flushed(60_000);
    process.send({ dropped: logger.output.dropped }, () => process.exit(0));
  });`;

interface Report {
  readonly megabytes: number;
  readonly dropped: number;
}

const start = (statements: string, stdout: 'pipe' | number) => {
  const program = `import { createLogger } from '${LOGGER}'; const logger = createLogger('info'); ${statements}`;
  const args = ['--max-old-space-size=40', '--input-type=module', '--eval', program];
  return spawn(process.execPath, args, { stdio: ['ignore', stdout, 'ignore', 'ipc'] });
};

describe('a process whose log has', () => {
  it.each<[reader: string, stdout: () => 'pipe' | number]>([
    ['a reader that stalls', () => 'pipe'],
    ['a reader that has ended', () => 'pipe'],
    ['a full disk', () => openSync('/dev/full', 'w')],
  ])('%s neither waits nor grows, and counts the lines that it drops', async (reader, open) => {
    if (reader.includes('disk') && process.platform !== 'linux') return;
    const stdout = open();
    const child = start(FLOOD, stdout);
    if (typeof stdout === 'number') closeSync(stdout);
    if (reader.includes('ended')) child.stdout?.destroy();
    const [{ megabytes, dropped }] = (await once(child, 'message')) as [Report];
    // 40 MB of lines, of which 4 MB and the buffer of the pipe are kept.
    expect(megabytes).toBeLessThan(150);
    expect(dropped).toBeGreaterThan(8_000);
    const output = child.stdout && reader.includes('stalls') ? text(child.stdout) : undefined;
    child.send('continue');
    const [[last], exit] = await Promise.all([once(child, 'message') as Promise<[Report]>, once(child, 'exit')]);
    expect(exit).toEqual([0, null]);
    // Every line was written or counted.
    if (output) expect((await output).trim().split('\n').length + last.dropped).toBe(10_001);
  });
});

it('the end of a process does not wait for a reader that stalls', async () => {
  const child = start(`logger.info('x'.repeat(1_000_000)); await logger.output.flushed(); process.exit(3)`, 'pipe');
  expect(await once(child, 'exit')).toEqual([3, null]);
});

it.each([
  ['an exit loses no line', 'process.exit(3)', ['first']],
  ['an uncaught error loses no line', "throw new Error('a bug')", ['first']],
  ['an abort loses no warning, and no line before it', "logger.warn('second'); process.abort()", ['first', 'second']],
  [
    'running out of memory loses no warning, and no line before it',
    "logger.warn('second'); const all = []; for (;;) all.push(new Array(1000).fill(all.length))",
    ['first', 'second'],
  ],
  ['lines are written within 100 ms', "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000)", ['first']],
  [
    'a line that is written without pino after a warning is buffered',
    `logger.warn('second'); logger.output.write('{"msg":"lost"}\\n'); process.kill(process.pid, 'SIGKILL'); for (;;);`,
    ['first', 'second'],
  ],
])('%s', async (_what, statements, messages) => {
  const child = start(`logger.info('first'); ${statements}`, 'pipe');
  const [output] = await Promise.all([text(child.stdout as NonNullable<typeof child.stdout>), once(child, 'close')]);
  const lines = output.split('\n').filter((line) => line !== '');
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(messages);
});
