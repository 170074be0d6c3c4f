import { readdir, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

/** Programs of a cluster, and those that start them. Other programs, such as a shell, may run in its folder too. */
const PROGRAMS = /^(?:etcd|python3[\d.]*|postgres|haproxy|pgbouncer|node|setpriv|ip)$/;

/** Returns the ids of the cluster's programs that run in the folder, and by default below it. PostgreSQL runs in its data folder. */
export async function processesIn(folder: string, { isRecursive = true } = {}): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const matches = await Promise.all(
    pids.map(async (pid) => {
      const [cwd = '', program = ''] = await Promise.all(['cwd', 'exe'].map((link) => readlink(`/proc/${pid}/${link}`).catch(() => '')));
      return PROGRAMS.test(basename(program)) && (cwd === folder || (isRecursive && cwd.startsWith(`${folder}/`)));
    }),
  );
  return pids.filter((_, index) => matches[index]);
}
