import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';

const SOURCE = pathToFileURL(join(import.meta.dirname, 'buffered-destination.ts')).href;
const PINO = import.meta.resolve('pino');

/** Logs a line and runs the statements in a new process, until it ends. */
async function run(statements: string, listeners = '') {
  const program = `
    import { pino } from '${PINO}';
    import { createBufferedDestination } from '${SOURCE}';
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
