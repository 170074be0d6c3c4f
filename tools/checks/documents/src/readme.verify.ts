import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { readText, ROOT } from '@animal-store/checks/workspace';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

// Requires Linux: /proc shows which Node.js serves. Installs everything once for each toolchain.
jest.setTimeout(900_000);

/** npm and the Node.js of the system. Each npm before 11.6 removes the link `node_modules/.bin/node`. */
const TOOLCHAINS = [
  ['10.8.2', '20.19.0'],
  ['11.3.0', '24.9.0'],
  ['latest', process.versions.node],
] as const;

const blocks = [...readText('README.md').matchAll(/^```(?<language>\w+)\n(?<code>[^]*?)^```$/gm)].map(({ groups = {} }) => groups);
const codeOf = (language: string) => blocks.filter((block) => block['language'] === language).map(({ code = '' }) => code);
const [start, ...requests] = codeOf('sh');

it('README.md starts with a clone, npm ci and npm start', () => {
  expect(start).toMatch(/^git clone \S+\ncd animal-store\nnpm ci\nnpm start\n$/);
});

describe.each(TOOLCHAINS)('with npm %s on Node.js %s, in a clean clone', (npm, node) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'readme-')));
  const clone = join(folder, 'animal-store');
  let env: NodeJS.ProcessEnv;
  let service: ChildProcess | undefined;

  const run = async (command: string, ...args: readonly string[]) =>
    (await promisify(execFile)(command, args, { cwd: clone, env, maxBuffer: 64 * 1024 * 1024 })).stdout;

  beforeAll(async () => {
    const tools = join(folder, 'tools');
    await promisify(execFile)('npm', ['install', '--prefix', tools, `npm@${npm}`, `node-linux-${process.arch}@${node}`]);
    await promisify(execFile)('git', ['clone', '--quiet', ROOT, clone]);
    const system = (process.env['PATH'] ?? '').split(delimiter).filter((path) => !path.includes('node_modules'));
    const PATH = [join(tools, 'node_modules/.bin'), ...system].join(delimiter);
    // Proxies, certificates and the registry stay; what npm, Nx and Jest have set for this process does not.
    const ofThisRun = /^(?:NX_|npm_(?!config_registry$)|NODE_(?!EXTRA_CA_CERTS$)|JEST_|INIT_CWD$|TEST_POSTGRES_URL$)/i;
    const kept = Object.entries(process.env).filter(([name]) => !ofThisRun.test(name));
    env = { ...Object.fromEntries(kept), PATH, CI: 'true', NX_DAEMON: 'false' };
    await run('npm', 'ci');
  });
  afterAll(async () => {
    if (service?.pid && service.exitCode === null && service.signalCode === null) {
      // Like Ctrl-C, which interrupts the whole process group.
      process.kill(-service.pid, 'SIGINT');
      await once(service, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('the commands of README.md print what it shows', async () => {
    service = spawn('npm', ['start'], { cwd: clone, env: { ...env, PORT: '0' }, detached: true });
    const { address, pid } = await started(service);
    const atAddress = (code: string) => code.replaceAll('http://localhost:3000', address);
    // curl prints no line end.
    const script = requests.map((request) => `${atAddress(request)}echo\n`).join('');
    expect(await run('sh', '-eu', '-c', script)).toBe(codeOf('text').join(''));

    const pinnedNode = join(clone, `node_modules/node-linux-${process.arch}/bin/node`);
    expect(readlinkSync(`/proc/${pid}/exe`)).toBe(pinnedNode);
    await run(pinnedNode, 'tools/build.mjs', 'libs/client');
    writeFileSync(join(clone, 'readme.ts'), atAddress(codeOf('ts').join('')));
    expect(await run('sh', '-eu', '-c', `API_KEY=$(cat .data/api-key) ${pinnedNode} readme.ts`)).toBe('1n Rex\n2n Mimi\n3n Rex\n');
  });

  it('Ctrl-C leaves nothing running', async () => {
    process.kill(-(service?.pid ?? NaN), 'SIGINT');
    await once(service as ChildProcess, 'exit');
    expect((await run('ps', '-axww', '-o', 'command=')).split('\n').filter((command) => command.includes(clone))).toEqual([]);
  });
});

function started({ stdout, stderr }: ChildProcess): Promise<{ address: string; pid: string }> {
  let output = '';
  stderr?.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve, reject) => {
    stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [, address] = /^ *Address +(http:\S+)\/v1$[^]*Ctrl-C stops/m.exec(output) ?? [];
      const [, pid] = /"pid":(\d+),.*"msg":"listening"/.exec(output) ?? [];
      if (address && pid) resolve({ address, pid });
    });
    stdout?.once('end', () => reject(new Error(`npm start ended: ${output}`)));
  });
}
