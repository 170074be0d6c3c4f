import { readFile, stat } from 'node:fs/promises';
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
 * Returns the command that runs a program as the account, which keeps the capability CAP_DAC_OVERRIDE, because it may not enter a folder on the
 * path, such as /root. With no_setuid_fixup, access(2) respects it (capabilities(7)).
 */
export function setprivCommand({ uid, gid }: Account): string[] {
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup', ...capabilities, '--'];
}
