import { execFile } from 'node:child_process';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');

/** The programs of a released version. */
export interface ReleasedVersion {
  readonly version: string;
  /** File of the service. */
  readonly service: string;
  /** Runs its command-line tool on a database and returns the standard output. */
  readonly animalStore: (databaseUrl: string, ...args: readonly string[]) => Promise<string>;
}

/**
 * Builds a release from the commit in `docs/releases/<version>/commit.txt`, with the dependencies of its lock file. The result is kept for the
 * next run, outside node_modules, where TypeScript does not name the types of packages.
 */
export async function buildReleasedVersion(version: string): Promise<ReleasedVersion> {
  const commit = (await readFile(join(ROOT, 'docs/releases', version, 'commit.txt'), 'utf8')).trim();
  const folder = join(ROOT, 'dist/releases', commit);
  const complete = join(folder, 'complete');
  if (!(await exists(complete))) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await extract(commit, folder);
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
    await run('npx', ['tsc', '-b', 'apps/api', 'apps/cli'], { cwd: folder });
    await writeFile(complete, '');
  }
  const { PATH, HOME } = process.env;
  return {
    version,
    service: join(folder, 'apps/api/dist/main.js'),
    animalStore: async (databaseUrl, ...args) => {
      const options = { env: { PATH, HOME, DATABASE_URL: databaseUrl } };
      return (await run(process.execPath, [join(folder, 'apps/cli/dist/main.js'), ...args], options)).stdout;
    },
  };
}

async function extract(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'release.tar');
  try {
    await run('git', ['archive', '--output', archive, commit], { cwd: ROOT });
  } catch (error) {
    throw new Error(`the commit ${commit} of the release is missing: run git fetch --unshallow`, { cause: error });
  }
  await run('tar', ['--extract', '--file', archive, '--directory', folder]);
  await rm(archive);
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
