import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { waitFor } from '@animal-store/local-postgres/testing';
import { ServiceProcess } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const WORKSPACE = join(import.meta.dirname, '../../..');
/** What `npm run dev` reads. The outputs are copied too, so that only what is stale is built. */
const COPIED_NAMES = [
  'apps/api',
  'CONTRIBUTING.md',
  'docs',
  'libs',
  'tools/build.mjs',
  'tools/checks',
  'tools/start',
  'package.json',
  'tsconfig.base.json',
];
/** The compiler checks all projects for the first time, while the service starts. */
const TYPE_CHECK = { timeoutMs: 120_000 };
const EXCLUDED_NAMES = ['node_modules', 'bundle', 'dev', 'spec', 'test-results', 'coverage', '.data'];

/** `npm run dev` in a copy of the workspace, in which specs change sources. */
class DevWorkspace {
  private original: string | undefined;
  private lastOrigin = '';
  private changedAt = 0;

  private constructor(
    private readonly folder: string,
    private readonly process: ServiceProcess,
  ) {}

  /** Resolves when the service listens. */
  static async start(): Promise<DevWorkspace> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'dev-')));
    await copyWorkspace(folder);
    const command = [process.execPath, join(folder, 'tools/start/run.mjs'), 'dev', '--inspect=0'];
    const child = ServiceProcess.spawn({ PORT: '0', DATA_DIR: join(folder, '.data') }, { command });
    await child.waitFor(/Ctrl-C stops/);
    const dev = new DevWorkspace(folder, child);
    // Another process logs the URL, possibly after the welcome text.
    await waitFor(() => expect(dev.origin).not.toBe(''));
    return dev;
  }

  /** What was printed since the last change of a source. */
  get output(): string {
    return this.process.output.slice(this.changedAt);
  }

  get apiKey(): string {
    return /API key +(\S+)/.exec(this.output)?.[1] ?? '';
  }

  /** The URL of the service, which has another port after each restart. */
  get origin(): string {
    return [...this.output.matchAll(/"url":"([^"]+)","msg":"listening"/g)].at(-1)?.[1] ?? this.lastOrigin;
  }

  async health(): Promise<number> {
    const response = await fetch(`${this.origin}/health/live`);
    await response.body?.cancel();
    return response.status;
  }

  /** Appends the code to the original source. */
  async change(code: string): Promise<void> {
    const file = join(this.folder, 'apps/api/src/start.ts');
    this.original ??= await readFile(file, 'utf8');
    this.lastOrigin = this.origin;
    this.changedAt = this.process.output.length;
    await writeFile(file, `${this.original}\n${code}\n`);
  }

  /** Removes the appended code and waits until the service runs without it. */
  async fix(): Promise<void> {
    await this.change('');
    await waitFor(() => expect(this.output).toContain('"listening"'));
    expect(await this.health()).toBe(200);
  }

  /** Resolves when the service has not restarted for two seconds. */
  async settle(): Promise<void> {
    for (let last = ''; last !== this.origin;) {
      last = this.origin;
      await sleep(2_000);
    }
  }

  /** Resolves to the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    return this.process.stop(signal);
  }

  async runningProcesses(): Promise<string[]> {
    const { stdout } = await promisify(execFile)('ps', ['-axww', '-o', 'command=']);
    return stdout.split('\n').filter((command) => command.includes(this.folder));
  }

  /** The command line of PostgreSQL does not name the folder. */
  isPostgresRunning(): boolean {
    return existsSync(join(this.folder, '.data/postgres/postmaster.pid'));
  }

  async remove(): Promise<void> {
    await this.stop('SIGTERM');
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function copyWorkspace(copy: string): Promise<void> {
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

let dev: DevWorkspace;
beforeAll(async () => {
  dev = await DevWorkspace.start();
});
afterAll(() => dev.remove());

describe('npm run dev', () => {
  it('validates requests, which requires the types that decorators record', async () => {
    const response = await fetch(`${dev.origin}/v1/pets?limit=0`, { headers: { authorization: `Bearer ${dev.apiKey}` } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'limit must be an integer from 1 to 100' });
  });

  it('passes arguments to Node.js, so that a debugger can attach', async () => {
    const [, address] = /Debugger listening on ws:\/\/(\S+?)\//.exec(dev.output) ?? [];
    expect(await (await fetch(`http://${address}/json`)).json()).toEqual([
      expect.objectContaining({ title: expect.stringContaining('dev-service.js') }),
    ]);
  });

  it('runs a changed source', async () => {
    await dev.change("console.log('the change runs');");
    await waitFor(() => expect(dev.output).toMatch(/the change runs\n[^]*"listening"/));
    expect(await dev.health()).toBe(200);
  });

  it('keeps serving and reports the error when a source does not compile', async () => {
    await dev.change('export const = 1;');
    await waitFor(() => expect(dev.output).toMatch(/apps\/api\/src\/start\.ts:\d+[^]*Waiting for a change\./));
    await waitFor(() => expect(dev.output).toContain('TS1134'), TYPE_CHECK);
    expect(await dev.health()).toBe(200);
    await dev.fix();
  });

  it('reports the error when a source does not load, and serves after the next change', async () => {
    await dev.change("throw new Error('broken on load');");
    await waitFor(() => expect(dev.output).toMatch(/Error: broken on load[^]*start\.ts:\d+[^]*Waiting for file changes/));
    await dev.fix();
  });

  it('shows type errors, and runs the changed source', async () => {
    await dev.change("export const wrong: number = 'text';");
    await waitFor(() => expect(dev.output).toContain('TS2322'), TYPE_CHECK);
    await waitFor(() => expect(dev.output).toContain('"listening"'));
    expect(await dev.health()).toBe(200);
    await dev.fix();
    await waitFor(() => expect(dev.output).toContain('Found 0 errors'), TYPE_CHECK);
  });

  it('leaves nothing running after Ctrl-C', async () => {
    expect(dev.isPostgresRunning()).toBe(true);
    expect(await dev.stop('SIGINT')).toBe(0);
    expect(await dev.runningProcesses()).toEqual([]);
    expect(dev.isPostgresRunning()).toBe(false);
  });
});
