import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

const WORKSPACE = join(import.meta.dirname, '..', '..', '..');
const COPIED = ['apps', 'libs', 'tools', 'package.json', 'tsconfig.base.json'];
const NOT_COPIED = ['node_modules', 'test-results', 'coverage', '.data'];
const WITHIN = { timeoutMs: 120_000 };
jest.setTimeout(300_000);

/** A copy of the workspace, whose sources the specs may change. */
let copy: string;
let dev: ChildProcess;
let output = '';

beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), 'dev-')));
  await copyWorkspace();
  const { PATH } = process.env;
  dev = spawn(process.execPath, [join(copy, 'tools/start/run.mjs'), 'dev'], {
    env: { PATH, PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: join(copy, '.data') },
  });
  for (const stream of [dev.stdout, dev.stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(dev, 'exit').then(() => {
    throw new Error(`it has ended: ${output}`);
  });
  await Promise.race([ended, waitFor(() => expect(output).toContain('Ctrl-C stops'), WITHIN)]);
});
afterAll(async () => {
  if (dev.exitCode === null && dev.signalCode === null) {
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  }
  await rm(copy, { recursive: true, force: true });
});

describe('npm run dev', () => {
  it('runs a changed source', async () => {
    await change("console.log('the change runs');");
    await waitFor(() => expect(output).toMatch(/the change runs\n(?:.*\n)*.*serve\.ts has changed: http.* runs it/), WITHIN);
    expect(await health()).toBe(200);
  });

  it.each([
    ['does not compile', 'export const = 1;', 'TS1134'],
    ['does not load', "throw new Error('broken on load');", 'Error: broken on load'],
  ])('keeps serving and says why when a source %s', async (_case, code, message) => {
    await change(code);
    await waitFor(() => expect(output).toContain(message), WITHIN);
    expect(await health()).toBe(200);
  });

  it('shows errors of the types', async () => {
    await change("export const wrong: number = 'text';");
    await waitFor(() => expect(output).toContain('TS2322'), WITHIN);
    // The changed source runs all the same: its service may be replacing the former one just now.
    await waitFor(async () => expect(await health()).toBe(200), WITHIN);
    await change('');
    await waitFor(() => expect(output).toContain('The types are right again.'), WITHIN);
  });

  it('leaves nothing running after Ctrl-C', async () => {
    dev.kill('SIGINT');
    await once(dev, 'exit');
    expect(dev.exitCode).toBe(0);
    const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'command=']);
    expect(stdout.split('\n').filter((command) => command.includes(copy))).toEqual([]);
  });
});

let original: string | undefined;

/** Writes the source as it was, with the code at its end. */
async function change(code: string): Promise<void> {
  const file = join(copy, 'apps/api/src/serve.ts');
  original ??= await readFile(file, 'utf8');
  await writeFile(file, `${original}\n${code}\n`);
}

/** Of the service that the last line with an address tells. */
async function health(): Promise<number> {
  const [origin = ''] = output.match(/http:\/\/localhost:\d+/g)?.slice(-1) ?? [];
  const response = await fetch(`${origin}/health/live`);
  await response.body?.cancel();
  return response.status;
}

async function copyWorkspace(): Promise<void> {
  const filter = (source: string) => !NOT_COPIED.includes(basename(source));
  for (const name of COPIED) await cp(join(WORKSPACE, name), join(copy, name), { recursive: true, preserveTimestamps: true, filter });
  const modules = join(WORKSPACE, 'node_modules');
  await mkdir(join(copy, 'node_modules'));
  for (const name of await readdir(modules)) {
    const target = join(copy, 'node_modules', name);
    // The links to the workspace's own packages are relative and lead into the copy.
    if (name === '@animal-store') await cp(join(modules, name), target, { recursive: true, verbatimSymlinks: true });
    else await symlink(join(modules, name), target);
  }
}
