import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const WORKSPACE = join(import.meta.dirname, '..', '..', '..');
const COPIED_NAMES = ['apps', 'docs', 'libs', 'tools', 'package.json', 'tsconfig.base.json'];
const EXCLUDED_NAMES = ['node_modules', 'test-results', 'coverage', '.data'];

/** A copy of the workspace, in which the specs change sources. */
let copy: string;
let dev: ChildProcess;
let output = '';

beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), 'dev-')));
  await copyWorkspace();
  const { PATH } = process.env;
  dev = spawn(process.execPath, [join(copy, 'tools/start/run.mjs'), 'dev'], {
    env: { PATH, PORT: '0', DATA_DIR: join(copy, '.data') },
  });
  for (const stream of [dev.stdout, dev.stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = once(dev, 'exit').then(() => {
    throw new Error(`npm run dev exited: ${output}`);
  });
  const started = waitFor(() => {
    expect(output).toContain('Ctrl-C stops');
    // Another process logs the URL, possibly after the welcome text.
    expect(origin()).not.toBe('');
  });
  await Promise.race([ended, started]);
});
afterAll(async () => {
  if (dev.exitCode === null && dev.signalCode === null) {
    dev.kill('SIGTERM');
    await once(dev, 'exit');
  }
  await rm(copy, { recursive: true, force: true });
});

describe('npm run dev', () => {
  it('validates requests, which requires the types that decorators record', async () => {
    const [, key] = /API key +(\S+)/.exec(output) ?? [];
    const response = await fetch(`${origin()}/v1/pets?limit=0`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });

  it('runs a changed source', async () => {
    await change("console.log('the change runs');");
    await waitFor(() => expect(output).toMatch(/the change runs\n[^]*listening/));
    expect(await health()).toBe(200);
  });

  it('serves a changed guide, and reports a dead link', async () => {
    const guide = join(copy, 'docs/guides/quickstart.md');
    const text = await readFile(guide, 'utf8');
    const page = async () => (await fetch(`${origin()}/docs/quickstart`)).text();
    expect(await page()).not.toContain('A changed guide.');
    await writeFile(guide, `${text}\nA changed guide.\n`);
    await waitFor(async () => expect(await page()).toContain('A changed guide.'));
    await writeFile(guide, `${text}\n[Dead](missing.md)\n`);
    await waitFor(() => expect(output).toContain('quickstart.md has a dead link: missing.md'));
    await writeFile(guide, text);
    await waitFor(async () => expect(await page()).not.toContain('A changed guide.'));
  });

  it('keeps serving and reports the error when a source does not compile', async () => {
    await change('export const = 1;');
    await waitFor(() => expect(output).toMatch(/apps\/api\/src\/serve\.ts:\d+[^]*Waiting for a change\./));
    await waitFor(() => expect(output).toContain('TS1134'));
    expect(await health()).toBe(200);
    await fix();
  });

  it('reports the error when a source does not load, and serves after the next change', async () => {
    await change("throw new Error('broken on load');");
    await waitFor(() => expect(output).toMatch(/Error: broken on load[^]*serve\.ts:\d+[^]*Waiting for file changes/));
    await fix();
  });

  it('shows type errors, and runs the changed source', async () => {
    await change("export const wrong: number = 'text';");
    await waitFor(() => expect(output).toContain('TS2322'));
    await waitFor(() => expect(output).toContain('listening'));
    expect(await health()).toBe(200);
    await fix();
    await waitFor(() => expect(output).toContain('Found 0 errors'));
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
let lastOrigin = '';

/** Appends the code to the original source. `output` then contains what is printed from now on. */
async function change(code: string): Promise<void> {
  const file = join(copy, 'apps/api/src/serve.ts');
  original ??= await readFile(file, 'utf8');
  lastOrigin = origin();
  output = '';
  await writeFile(file, `${original}\n${code}\n`);
}

/** Removes the appended code and waits until the service runs without it. */
async function fix(): Promise<void> {
  await change('');
  await waitFor(() => expect(output).toContain('listening'));
  expect(await health()).toBe(200);
}

/** The URL of the service, which has another port after each restart. */
function origin(): string {
  return [...output.matchAll(/"url":"([^"]+)","msg":"listening"/g)].at(-1)?.[1] ?? lastOrigin;
}

async function health(): Promise<number> {
  const response = await fetch(`${origin()}/health/live`);
  await response.body?.cancel();
  return response.status;
}

async function copyWorkspace(): Promise<void> {
  const filter = (source: string) => !EXCLUDED_NAMES.includes(basename(source));
  for (const name of COPIED_NAMES) await cp(join(WORKSPACE, name), join(copy, name), { recursive: true, preserveTimestamps: true, filter });
  const modules = join(WORKSPACE, 'node_modules');
  await mkdir(join(copy, 'node_modules'));
  for (const name of await readdir(modules)) {
    const target = join(copy, 'node_modules', name);
    // The links to the workspace's packages are relative, so they point into the copy.
    if (name === '@animal-store') await cp(join(modules, name), target, { recursive: true, verbatimSymlinks: true });
    else await symlink(join(modules, name), target);
  }
}
