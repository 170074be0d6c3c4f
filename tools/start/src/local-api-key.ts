import { chmod, chown, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Access, openAccess } from '@animal-store/access-infrastructure';
import { contexts } from '@animal-store/api/contexts';
import { DomainError } from '@animal-store/kernel';

const CLIENT = 'local';

export interface LocalApiKeyOptions {
  readonly databaseUrl: string;
  readonly file: string;
  /** Named in a new key. */
  readonly environment: string;
}

/** The API key kept in the file, which allows everything, or a new one when the file is lost or the database does not accept what it holds. */
export async function localApiKey({ databaseUrl, file, environment }: LocalApiKeyOptions): Promise<string> {
  const scopes = contexts.flatMap((context) => context.scopes ?? []);
  const access = await openAccess(databaseUrl);
  try {
    const kept = await readIfThere(file);
    if (kept !== undefined && (await isAccepted(access, kept, scopes))) return kept;
    const { secret } = await access.createApiKey.execute({ clientName: CLIENT, environment, scopes });
    await writePrivate(file, `${secret}\n`);
    return secret;
  } finally {
    await access.close();
  }
}

async function isAccepted({ authenticateApiKey }: Access, key: string, wanted: readonly string[]): Promise<boolean> {
  try {
    const { scopes } = await authenticateApiKey.execute(key);
    return wanted.every((scope) => (scopes as readonly string[]).includes(scope));
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function writePrivate(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  await chmod(file, 0o600);
  // What root makes belongs to the owner of the folder, like all else in it.
  const { uid, gid } = await stat(join(file, '..'));
  if (process.getuid?.() === 0) await chown(file, uid, gid);
}
