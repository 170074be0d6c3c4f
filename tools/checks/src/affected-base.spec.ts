import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const NX = 'node_modules/nx/dist/bin/nx.js';
const COMMIT = ['-c', 'user.name=spec', '-c', 'user.email=spec@localhost', 'commit', '--quiet', '--allow-empty', '--message', 'spec'];

const temporary = mkdtempSync(join(tmpdir(), 'affected-'));
const folder = (name: string) => join(temporary, name);
const git = (cwd: string, ...args: readonly string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' });

/** An origin with two commits on main and one on the branch topic, and its clones. */
beforeAll(() => {
  for (const name of ['tools', 'node_modules/nx/dist/bin']) mkdirSync(join(folder('origin'), name), { recursive: true });
  cpSync(join(import.meta.dirname, '../../affected.mjs'), join(folder('origin'), 'tools/affected.mjs'));
  writeFileSync(join(folder('origin'), NX), 'console.log([process.env.NX_BASE, ...process.argv.slice(2)].join(" "));');
  cpSync(folder('origin'), folder('archive'), { recursive: true });
  git(folder('origin'), 'init', '--quiet', '--initial-branch=main');
  git(folder('origin'), 'add', '--all', '--force');
  for (const branch of ['main', 'main', 'topic']) {
    git(folder('origin'), 'checkout', '--quiet', '-B', branch);
    git(folder('origin'), ...COMMIT);
  }
  const clone = (name: string, ...args: readonly string[]) =>
    git(temporary, 'clone', '--quiet', ...args, '--branch=topic', `file://${folder('origin')}`, name);
  clone('full');
  clone('single', '--single-branch');
  clone('shallow', '--depth=1');
});
afterAll(() => rmSync(temporary, { recursive: true }));

function affected(name: string, args: readonly string[] = [], base?: string) {
  const { NX_BASE: _ofThisRun, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/affected.mjs', '-t', 'test', ...args], {
    cwd: folder(name),
    env: { ...env, ...(base && { NX_BASE: base }), GIT_CEILING_DIRECTORIES: temporary },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('npm run affected', () => {
  it.each([
    ['main, if the clone has it', 'origin', [], undefined, 'main affected -t test\n'],
    ['origin/main otherwise', 'full', [], undefined, 'origin/main affected -t test\n'],
    ['NX_BASE', 'shallow', [], 'HEAD', 'HEAD affected -t test\n'],
    ['the option --base', 'shallow', ['--base=HEAD~1'], undefined, ' affected -t test --base=HEAD~1\n'],
  ])('compares with %s', (_base, name, args, base, stdout) => {
    expect(affected(name, args, base)).toEqual({ status: 0, stdout, stderr: '' });
  });

  it.each([
    [
      'a clone of one branch',
      'single',
      undefined,
      'This clone has no main or origin/main to compare with. Run "git fetch origin main:main", or set NX_BASE to a commit.\n',
    ],
    [
      'a shallow clone',
      'shallow',
      undefined,
      'This clone has no main or origin/main to compare with. Run "git fetch --unshallow origin main:main", or set NX_BASE to a commit.\n',
    ],
    [
      'an unknown NX_BASE',
      'full',
      'mian',
      'This clone has no mian to compare with. Run "git fetch origin main:main", or set NX_BASE to a commit.\n',
    ],
    [
      'a downloaded archive',
      'archive',
      undefined,
      'This needs the history of Git. Clone the repository, or run "npm test", which tests every project.\n',
    ],
  ])('prints one line in %s', (_case, name, base, stderr) => {
    expect(affected(name, [], base)).toEqual({ status: 1, stdout: '', stderr });
  });

  it('works after the printed command', () => {
    git(folder('shallow'), 'fetch', '--quiet', '--unshallow', 'origin', 'main:main');
    expect(affected('shallow').stdout).toBe('main affected -t test\n');
  });
});
