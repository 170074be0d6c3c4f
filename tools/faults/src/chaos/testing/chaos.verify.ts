import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// `npm run verify -- chaos`: not part of `npm test`, since it starts many processes and waits for each fault to end.

const MAIN = fileURLToPath(new URL('../../../dist/chaos/main.js', import.meta.url));

it('the service keeps its promises during each fault', async () => {
  // A non-zero exit code throws an error that shows the table.
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--short', '--seed', '1']);
  expect(stdout).toContain('all promises kept');
  const figure = (name: string) => Number(new RegExp(`^${name} +(\\d+)$`, 'm').exec(stdout)?.[1]);
  expect(figure('acknowledged')).toBeGreaterThan(20);
  expect([figure('lost'), figure('duplicates')]).toEqual([0, 0]);
  const phases = stdout.match(/^\| .*\d \|.*$/gm) ?? [];
  expect(phases.length).toBeGreaterThan(20);
});
