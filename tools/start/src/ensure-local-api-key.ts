import { chown, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { connectAccessUseCases, type ConnectedAccessUseCases } from '@animal-store/access-infrastructure';
import { contexts } from '@animal-store/api/contexts';
import { DomainError } from '@animal-store/kernel';

/**
 * Returns the API key in the file, which has all scopes. Creates a key for the environment if the file is missing or its key is
 * not accepted.
 */
export async function ensureLocalApiKey(databaseUrl: string, file: string, environment: string): Promise<string> {
  const scopes = contexts.flatMap((context) => context.scopes ?? []);
  const access = await connectAccessUseCases(databaseUrl);
  try {
    const stored = (await readFile(file, 'utf8').catch(() => '')).trim();
    if (await isAccepted(access, stored, scopes)) return stored;
    const { secret } = await access.createApiKey.execute({ clientName: 'local', environment, scopes });
    await writePrivateFile(file, `${secret}\n`);
    return secret;
  } finally {
    await access.close();
  }
}

async function isAccepted(
  { authenticateApiKey }: ConnectedAccessUseCases,
  key: string,
  requiredScopes: readonly string[],
): Promise<boolean> {
  try {
    const { scopes } = await authenticateApiKey.execute(key);
    return requiredScopes.every((scope) => scopes.includes(scope));
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

async function writePrivateFile(file: string, text: string): Promise<void> {
  // The mode only applies to a new file.
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600 });
  // If this process is root, the file gets the owner of the folder, like the other files in the folder.
  const { uid, gid } = await stat(dirname(file));
  if (process.getuid?.() === 0) await chown(file, uid, gid);
}
