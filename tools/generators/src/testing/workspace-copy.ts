import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKSPACE = fileURLToPath(new URL('../../../../', import.meta.url));

export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** Maximum output of a failed command, in characters. */
const MAX_OUTPUT = 20_000;

/** Returns the output of a command. Throws if the command failed. */
export function expectSuccess({ code, output }: CommandResult): string {
  // Jest would only show the first lines of a difference of texts.
  if (code !== 0) throw new Error(output.slice(-MAX_OUTPUT));
  return output;
}

/** Runs `npm test`, but of the specs only those that depend on a change, and those that read files. */
export function testChanges(copy: WorkspaceCopy): Promise<CommandResult> {
  return copy.shell('npm test -- --onlyChanged && npm run jest -- tools/checks apps/api/src/contexts');
}

/** A copy of the workspace in a separate repository, in which a spec may change everything. */
export class WorkspaceCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<WorkspaceCopy> {
    const copy = new WorkspaceCopy(mkdtempSync(join(realpathSync(tmpdir()), 'animal-store-copy-')));
    const listed = await run(WORKSPACE, 'git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']);
    for (const file of listed.output.split('\0').filter((name) => name !== '')) {
      mkdirSync(dirname(join(copy.folder, file)), { recursive: true });
      cpSync(join(WORKSPACE, file), join(copy.folder, file), { force: true });
    }
    linkPackages(join(WORKSPACE, 'node_modules'), join(copy.folder, 'node_modules'));
    await copy.git('init', '--quiet', '--initial-branch=main');
    await copy.commit();
    return copy;
  }

  /** Commits every change. */
  async commit(): Promise<void> {
    await this.git('add', '--all');
    await this.git('-c', 'user.name=spec', '-c', 'user.email=spec@localhost', 'commit', '--quiet', '--message', 'spec');
  }

  git(...args: readonly string[]): Promise<CommandResult> {
    return run(this.folder, 'git', args);
  }

  /** Runs a script of node_modules by its path. */
  node(script: string, ...args: readonly string[]): Promise<CommandResult> {
    return run(this.folder, process.execPath, [join(this.folder, script), ...args]);
  }

  /** Runs a script of the shell. */
  shell(script: string): Promise<CommandResult> {
    return run(this.folder, 'bash', ['-euo', 'pipefail', '-c', script]);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Copies with hard links, which is fast. `npm install` can add files to the copy without changing the original. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory()) linkPackages(source, target);
    // Files that npm changes in place.
    else if (entry.name === '.package-lock.json') copyFileSync(source, target);
    else link(source, target);
  }
}

function link(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyFileSync(source, target);
  }
}

/** Returns the environment without the variables of Nx and npm, which refer to the original workspace. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:NX_|npm_|NODE_ENV$|INIT_CWD$)/.test(name));
  return { ...Object.fromEntries(kept), NX_DAEMON: 'false', NX_TUI: 'false', FORCE_COLOR: '0' };
}

function run(cwd: string, command: string, args: readonly string[]): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env: environment(), maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : 1) : 0, output: stdout + stderr });
    });
  });
}
