import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folders in which Debian installs programs. */
const FOLDERS = ['usr/bin', 'usr/sbin'];
const POSTGRES_FOLDER = 'usr/lib/postgresql';

/** Each program and its package. */
const PACKAGES = { etcd: 'etcd-server', patroni: 'patroni', haproxy: 'haproxy', pgbouncer: 'pgbouncer' } as const;

/** Paths of the programs. */
export interface DebianPrograms extends Readonly<Record<keyof typeof PACKAGES, string>> {
  /** Folder with the programs of the newest PostgreSQL. */
  readonly postgresFolder: string;
}

/**
 * Finds the programs. `root` replaces / in tests.
 * @throws Error with the command that installs the missing packages
 */
export function findPrograms(root = '/'): DebianPrograms {
  const missing: string[] = [];
  const find = (program: keyof typeof PACKAGES) => {
    const path = FOLDERS.map((folder) => join(root, folder, program)).find((file) => existsSync(file));
    if (path === undefined) missing.push(PACKAGES[program]);
    return path ?? '';
  };
  const programs = { etcd: find('etcd'), patroni: find('patroni'), haproxy: find('haproxy'), pgbouncer: find('pgbouncer') };
  const postgresFolder = findPostgres(root);
  if (postgresFolder === undefined) missing.push('postgresql');
  if (missing.length === 0 && postgresFolder !== undefined) return { ...programs, postgresFolder };
  throw new Error(`Programs are missing. Install their Debian packages: apt-get install --no-install-recommends ${missing.join(' ')}`);
}

function findPostgres(root: string): string | undefined {
  const folder = join(root, POSTGRES_FOLDER);
  const versions = existsSync(folder) ? readdirSync(folder).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(folder, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}
