import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readText, ROOT } from '@animal-store/checks/workspace';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const blocks = [...readText('README.md').matchAll(/^```(?<language>\w+)\n(?<code>[^]*?)^```$/gm)].map(({ groups = {} }) => groups);
const codeOf = (language: string) => blocks.filter((block) => block['language'] === language).map(({ code = '' }) => code);

const [start, ...requests] = codeOf('sh');
const folder = mkdtempSync(join(tmpdir(), 'readme-'));
/** In the workspace, so that the TypeScript program can import the client. */
const programs = join(ROOT, 'tools/checks/documents/test-results');
const { PATH, HOME } = process.env;

let service: ChildProcess;
let address: string;

beforeAll(async () => {
  service = spawn('npm', ['start'], { cwd: ROOT, env: { PATH, HOME, DATA_DIR: join(folder, '.data'), PORT: '0' }, detached: true });
  address = await printedAddress(service);
});
afterAll(async () => {
  const exit = once(service, 'exit');
  // Like Ctrl-C, which interrupts the whole process group.
  if (service.pid) process.kill(-service.pid, 'SIGINT');
  await exit;
  rmSync(folder, { recursive: true });
});

it('the commands of README.md print what it shows', async () => {
  expect(start).toMatch(/^git clone \S+\ncd animal-store\nnpm ci\nnpm start\n$/);
  // curl prints no line end.
  const script = requests.map((request) => `${atAddress(request)}echo\n`).join('');
  expect(await run('sh', ['-eu', '-c', script])).toBe(codeOf('text').join(''));

  mkdirSync(programs, { recursive: true });
  const program = join(programs, `readme-${process.pid}.ts`);
  writeFileSync(program, atAddress(codeOf('ts').join('')));
  const printed = await run('sh', ['-eu', '-c', `API_KEY=$(cat .data/api-key) "${process.execPath}" "${program}"`]);
  rmSync(program);
  expect(printed).toBe('1n Rex\n2n Mimi\n3n Rex\n');
});

async function run(command: string, args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, args, { cwd: folder, env: { PATH, HOME } })).stdout;
}

function atAddress(code: string): string {
  return code.replaceAll('http://localhost:3000', address);
}

function printedAddress({ stdout, stderr }: ChildProcess): Promise<string> {
  let output = '';
  stderr?.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve, reject) => {
    stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [, url] = /^ *Address +(http:\S+)\/v1$[^]*Ctrl-C stops/m.exec(output) ?? [];
      if (url) resolve(url);
    });
    stdout?.once('end', () => reject(new Error(`npm start ended: ${output}`)));
  });
}
