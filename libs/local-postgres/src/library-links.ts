import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { LocalPostgresError } from './local-postgres-error.js';

/**
 * Creates the symbolic links of PostgreSQL's libraries, such as `libicuuc.so.60`, that are missing. npm packages cannot contain them: the
 * package creates them in an install script, which does not run with `--ignore-scripts`.
 */
export async function createLibraryLinks(packageFolder: string): Promise<void> {
  for (const { source, target } of await readLinks(join(packageFolder, 'native/pg-symlinks.json'))) {
    const link = join(packageFolder, target);
    // Also true if another process creates it concurrently.
    const isMissing = () => !existsSync(link);
    if (!isMissing()) continue;
    await symlink(relative(dirname(target), source), link).catch((error: unknown) => {
      if (isMissing())
        throw new LocalPostgresError(
          `A library of PostgreSQL is missing, and cannot be linked: ${(error as Error).message}. Run "npm ci" again.`,
        );
    });
  }
}

/** Packages of some platforms need no links. */
async function readLinks(file: string): Promise<readonly { readonly source: string; readonly target: string }[]> {
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as { source: string; target: string }[]) : [];
}
