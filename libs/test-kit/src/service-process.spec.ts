import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { ServiceProcess } from './service-process.js';

const folder = mkdtempSync(join(tmpdir(), 'animal-store-process-'));
const running: ServiceProcess[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.kill();
});
afterAll(() => rmSync(folder, { recursive: true }));

const program = (code: string) => [process.execPath, '-e', code];
const STAYS = 'setInterval(() => undefined, 1000);';

async function start(code: string, logFile?: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({}, { command: program(code), ...(logFile !== undefined && { logFile }) });
  running.push(service);
  return service;
}

describe.each([
  ['pipes', undefined],
  ['a file', join(folder, 'log')],
])('a process that writes to %s', (_what, logFile) => {
  it.each([
    ['{"level":30,"url":"http://localhost:12345","msg":"listening"}', 'http://127.0.0.1:12345'],
    ['listening 12345', 'http://127.0.0.1:12345'],
    ['Listening at http://[::]:12345', 'http://127.0.0.1:12345'],
    ['{"url":"http://[::1]:12345"}', 'http://[::1]:12345'],
  ])('listens as soon as it prints %s', async (line, url) => {
    const service = await start(`console.log('before'); console.log(${JSON.stringify(line)}); ${STAYS}`, logFile);
    expect([service.url, service.port, service.isRunning]).toEqual([url, 12345, true]);
  });

  it('has its problems since it listens, and its exit code', async () => {
    const code = `console.error('before');
      process.on('SIGTERM', () => {
        console.log('{"level":30,"msg":"information"}');
        console.log('{"level":40,"msg":"warning"}');
        console.error('stack');
        process.exit(3);
      });
      console.log('listening 1'); ${STAYS}`;
    const service = await start(code, logFile);
    expect(service.problems).toEqual([]);
    expect(await service.stop()).toBe(3);
    await service.end();
    expect(service.problems.toSorted()).toEqual(['stack', '{"level":40,"msg":"warning"}']);
    expect(service.isRunning).toBe(false);
  });

  it('fails with its output if it ends before it listens', async () => {
    await expect(start(`console.error('no port'); process.exit(4)`, logFile)).rejects.toThrow(/ended with 4:\nno port/);
  });
});

it('fails if the program is missing', async () => {
  await expect(ServiceProcess.start({}, { command: [join(folder, 'missing')] })).rejects.toThrow('ENOENT');
});

it('is killed', async () => {
  const service = await start(`console.log('listening 1'); ${STAYS}`);
  expect(service.memory).toBeGreaterThan(1_000_000);
  await service.kill();
  expect(await service.exit()).toBeNull();
});
