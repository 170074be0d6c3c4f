import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where Debian keeps programs. */
const FOLDERS = ['/usr/bin', '/usr/sbin'];
const POSTGRES = '/usr/lib/postgresql';

/** Each program with the package that has it. */
const PACKAGES = {
  etcd: 'etcd-server',
  patroni: 'patroni',
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  ip: 'iproute2',
} as const;

export type DebianProgram = keyof typeof PACKAGES;

export interface DebianPrograms extends Readonly<Record<Exclude<DebianProgram, 'ip'>, string>> {
  /** Folder of the newest installed PostgreSQL. */
  readonly postgresFolder: string;
}

export class MissingPackagesError extends Error {
  override readonly name = 'MissingPackagesError';

  constructor(readonly packages: readonly string[]) {
    super(`Programs are missing. Install Debian's packages: apt-get install --no-install-recommends ${packages.join(' ')}`);
  }
}

/** Returns the paths of the programs. `root` is the folder that stands for /. */
export function findPrograms(root = '/'): DebianPrograms {
  const found = (['etcd', 'patroni', 'haproxy', 'pgbouncer'] as const).map((name) => [name, findProgram(name, root)] as const);
  const missing: string[] = found.flatMap(([name, path]) => (path === undefined ? [PACKAGES[name]] : []));
  const postgresFolder = findPostgres(root);
  if (postgresFolder === undefined) missing.push('postgresql');
  if (missing.length > 0) throw new MissingPackagesError(missing);
  return { ...(Object.fromEntries(found) as Record<Exclude<DebianProgram, 'ip'>, string>), postgresFolder: postgresFolder ?? '' };
}

function findProgram(name: string, root: string): string | undefined {
  return FOLDERS.map((folder) => join(root, folder, name)).find((path) => existsSync(path));
}

function findPostgres(root: string): string | undefined {
  const folder = join(root, POSTGRES);
  const versions = existsSync(folder) ? readdirSync(folder).map(Number) : [];
  const [newest] = versions.filter((version) => existsSync(join(folder, `${version}`, 'bin', 'initdb'))).sort((a, b) => b - a);
  return newest === undefined ? undefined : join(folder, `${newest}`, 'bin');
}
