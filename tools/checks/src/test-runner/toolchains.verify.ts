import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

/** Requires Linux: the Node.js of each toolchain comes from npm, and /proc shows which one serves. */
jest.setTimeout(1_200_000);

const ROOT = join(import.meta.dirname, '../../../..');
/** Pure, with a bundle and PostgreSQL, and with `npm start`. The nightly job "everything" tests all projects. */
const PROJECTS = 'kernel,cli,start';

/** npm and the system's Node.js. Each npm before 11.6 removes the link `node_modules/.bin/node`. */
const TOOLCHAINS = [
  ['10.8.2', '20.19.0'],
  ['10.9.4', '22.20.0'],
  ['11.3.0', '24.9.0'],
  ['latest', process.versions.node],
] as const;

describe.each(TOOLCHAINS)('with npm %s on Node.js %s', (npm, node) => {
  let temporary: string;
  let clone: string;
  let pinnedNode: string;
  let env: NodeJS.ProcessEnv;
  let service: ChildProcess | undefined;

  /** Returns the output of a command in the clone. */
  async function run(command: string, ...args: readonly string[]): Promise<string> {
    try {
      const { stdout } = await promisify(execFile)(command, args, { cwd: clone, env, maxBuffer: 64 * 1024 * 1024 });
      return stdout;
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
      throw new Error(`${command} ${args.join(' ')} failed: ${(stdout + stderr).slice(-10_000)}`, { cause: error });
    }
  }

  beforeAll(async () => {
    temporary = realpathSync(mkdtempSync(join(tmpdir(), 'toolchain-')));
    clone = join(temporary, 'animal-store');
    pinnedNode = join(clone, `node_modules/node-linux-${process.arch}/bin/node`);
    const tools = join(temporary, 'tools');
    await promisify(execFile)('npm', ['install', '--prefix', tools, `npm@${npm}`, `node-linux-${process.arch}@${node}`]);
    await promisify(execFile)('git', ['clone', '--quiet', ROOT, clone]);
    const system = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
    const PATH = [join(tools, 'node_modules/.bin'), ...system].join(delimiter);
    // Proxies, certificates and the registry stay; what npm, Nx and Jest have set for this process does not.
    const ofThisRun = /^(?:NX_|npm_(?!config_registry$)|NODE_(?!EXTRA_CA_CERTS$)|JEST_|INIT_CWD$|TEST_POSTGRES_URL$)/i;
    const kept = Object.entries(process.env).filter(([name]) => !ofThisRun.test(name));
    env = { ...Object.fromEntries(kept), PATH, CI: 'true', NX_DAEMON: 'false' };
    expect(await run('node', '--version')).toBe(`v${node}\n`);
  });
  afterAll(async () => {
    // Still running if a test failed.
    if (service?.pid && service.exitCode === null && service.signalCode === null) {
      process.kill(-service.pid, 'SIGINT');
      await once(service, 'exit');
    }
    rmSync(temporary, { recursive: true, force: true });
  });

  it.each(npm === '10.8.2' ? ['ci --ignore-scripts', 'ci'] : ['ci'])('npm %s, then npm start serves', async (args) => {
    await run('npm', ...args.split(' '));
    service = spawn('npm', ['start'], { cwd: clone, env: { ...env, PORT: '0' }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const { url, apiKey, pid } = await started(service);
    const response = await fetch(`${url}/pets`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect([response.status, await response.json()]).toEqual([200, []]);
    expect(readlinkSync(`/proc/${pid}/exe`)).toBe(pinnedNode);
    // Like Ctrl-C, which interrupts the whole process group.
    process.kill(-(service.pid as number), 'SIGINT');
    await once(service, 'exit');
    await expect(fetch(url)).rejects.toThrow();
    expect(await run('ps', '-axww', '-o', 'command=')).not.toContain(join(clone, '.data'));
  });

  it('npm test passes', async () => {
    expect(await run('npm', 'test', '--', '-p', PROJECTS)).toMatch(/\n[1-9]\d* passed, 0 failed\n$/);
  });

  it('the other scripts and npx run on the Node.js of node_modules', async () => {
    expect(await run('npx', 'nx', 'show', 'projects')).toContain('kernel\n');
    expect(realpathSync(join(clone, 'node_modules/.bin/node'))).toBe(pinnedNode);
    await run('npm', 'run', 'jest', '--', 'libs/kernel/src/int64');
    expect(await run('npm', 'run', '--silent', 'animal-store', '--', '--help')).toContain('doctor');
    // npm does not run the scripts of this package after this, and the older versions remove the link again.
    await run('npm', 'install', '--save-exact', 'rxjs');
    await run('npm', 'run', 'jest', '--', 'libs/kernel/src/int64');
    expect(realpathSync(join(clone, 'node_modules/.bin/node'))).toBe(pinnedNode);
  });
});

interface Started {
  /** http://localhost:3000/v1 */
  readonly url: string;
  readonly apiKey: string;
  readonly pid: string;
}

function started({ stdout, stderr }: ChildProcess): Promise<Started> {
  let output = '';
  return new Promise((resolve, reject) => {
    stderr?.on('data', (chunk) => (output += String(chunk)));
    stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [, url] = /^ *Address +(\S+)$/m.exec(output) ?? [];
      const [, apiKey] = /^ *API key +(\S+)$/m.exec(output) ?? [];
      const [, pid] = /"pid":(\d+),.*"msg":"listening"/.exec(output) ?? [];
      if (url && apiKey && pid) resolve({ url, apiKey, pid });
    });
    stdout?.once('end', () => reject(new Error(`npm start ended: ${output}`)));
  });
}
