import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
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
 * Returns the command that runs a program as the account. The program keeps CAP_DAC_OVERRIDE, because other accounts cannot access a
 * workspace below /root without it. With no_setuid_fixup, access(2) respects it (capabilities(7)).
 */
export function setprivCommand({ uid, gid }: Account): string[] {
  const capabilities = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--securebits=+no_setuid_fixup', ...capabilities, '--'];
}
