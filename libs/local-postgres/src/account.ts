import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LocalPostgresError } from './local-postgres-error.js';

/** A user of the operating system and its group. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
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
 * Returns the command that runs a program as the account. If the account cannot enter one of the folders, as below /root, the program
 * keeps the capability CAP_DAC_OVERRIDE. With no_setuid_fixup, access(2) respects it (capabilities(7)).
 */
export async function setprivCommand(account: Account, folders: readonly string[]): Promise<string[]> {
  const areOpen = (await Promise.all(folders.map((folder) => mayEnter(account, folder)))).every(Boolean);
  const kept = areOpen ? '-all' : '-all,+dac_override';
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=${kept}`);
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return ['setpriv', ...ids, '--securebits=+no_setuid_fixup', ...capabilities, '--'];
}

/** Whether the account may enter all folders on the path. Folders that do not exist yet are ignored. */
async function mayEnter(account: Account, path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  const bit = found?.uid === account.uid ? 0o100 : found?.gid === account.gid ? 0o010 : 0o001;
  if (found && (found.mode & bit) === 0) return false;
  return path === dirname(path) || mayEnter(account, dirname(path));
}
