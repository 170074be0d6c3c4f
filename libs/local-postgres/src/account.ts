import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LocalPostgresError } from './local-postgres-error.js';

/** A user of the operating system and its group. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the owner of the data, otherwise `postgres` or `nobody`. Never root. */
export async function findAccount(dataDir: string): Promise<Account> {
  for (const folder of [join(dataDir, 'postgres'), dataDir]) {
    const owner = await stat(folder).catch(() => undefined);
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const found = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!found)
    throw new LocalPostgresError('PostgreSQL cannot run as root, and neither the user "postgres" nor "nobody" exists. Create one of them.');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/**
 * Returns the command that runs a program as the account, without capabilities. Only if the account cannot enter one of the folders, the
 * program keeps CAP_DAC_OVERRIDE: a workspace below /root needs it. With no_setuid_fixup, access(2) respects it (capabilities(7)).
 */
export async function setprivCommand(account: Account, folders: readonly string[]): Promise<string[]> {
  const { uid, gid } = account;
  const closed = await Promise.all(folders.map((folder) => findClosedFolder(account, folder)));
  const kept = closed.every((folder) => folder === undefined) ? '-all' : '-all,+dac_override';
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=${kept}`);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup', ...capabilities, '--'];
}

/** Returns the folder on the path that the account may not enter. Folders that do not exist yet are ignored. */
export async function findClosedFolder({ uid, gid }: Account, path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  const bit = found?.uid === uid ? 0o100 : found?.gid === gid ? 0o010 : 0o001;
  if (found && (found.mode & bit) === 0) return path;
  return path === dirname(path) ? undefined : findClosedFolder({ uid, gid }, dirname(path));
}
