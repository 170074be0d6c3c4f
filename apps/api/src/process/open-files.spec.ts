import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { fitIntoOpenFiles, openFileLimit } from './open-files.js';

const config = { maxConnections: 10_000, databasePoolSize: 10, databaseReplicaUrls: [] as string[] };

describe('fitIntoOpenFiles', () => {
  it.each([
    [1_048_576, [], 10_000],
    [undefined, [], 10_000],
    [1_024, [], 939],
    [1_024, ['postgres://one', 'postgres://two'], 919],
    [20, [], 1],
  ])('with %s open files and replicas %j allows %i connections', (limit, databaseReplicaUrls, maxConnections) => {
    expect(fitIntoOpenFiles({ ...config, databaseReplicaUrls }, limit)).toMatchObject({ maxConnections });
  });

  it('logs only a lowered limit', () => {
    const warn = jest.fn();
    fitIntoOpenFiles(config, 100_000, { warn });
    expect(warn).not.toHaveBeenCalled();
    fitIntoOpenFiles(config, 1_024, { warn });
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn).toHaveBeenCalledWith({ maxConnections: 939, openFiles: 1_024 }, expect.stringContaining('ulimit -n'));
  });
});

it('reads the limit of the process', () => {
  if (process.platform !== 'linux') return;
  const source = pathToFileURL(join(import.meta.dirname, 'open-files.ts')).href;
  const program = `import('${source}').then(({ openFileLimit }) => console.log(String(openFileLimit())))`;
  const output = execFileSync('sh', ['-c', 'ulimit -n 300; exec "$0" --eval "$1"', process.execPath, program], { encoding: 'utf8' });
  expect(output).toBe('300\n');
  expect(openFileLimit()).toBeGreaterThan(0);
});
