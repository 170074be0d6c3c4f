import { readFile } from 'node:fs/promises';
import { connectAccessUseCases, type AccessUseCases } from '@animal-store/access-infrastructure';
import { contexts } from '@animal-store/api/contexts';
import { StartupError } from '@animal-store/api/serve';
import { DomainError } from '@animal-store/kernel';
import { replacePrivateFile } from '@animal-store/local-postgres';

/**
 * Returns the API key in the file, which has all scopes. Creates a key for the environment if the file is missing or its key is
 * not accepted.
 * @throws StartupError if the file cannot be written. Then no key was created.
 */
export async function ensureLocalApiKey(databaseUrl: string, file: string, environment: string): Promise<string> {
  const scopes = contexts.flatMap((context) => context.scopes ?? []);
  const access = await connectAccessUseCases(databaseUrl);
  try {
    const stored = (await readFile(file, 'utf8').catch(() => '')).trim();
    if (await isAccepted(access, stored, scopes)) return stored;
    const { secret } = await access.manageApiKeys.create({ clientName: 'local', environment, scopes }, (created) =>
      replacePrivateFile(file, `${created.secret}\n`).catch((error: unknown) => {
        throw new StartupError(`The API key cannot be stored: ${(error as Error).message}`);
      }),
    );
    return secret;
  } finally {
    await access.close();
  }
}

async function isAccepted({ authenticateApiKey }: AccessUseCases, key: string, requiredScopes: readonly string[]): Promise<boolean> {
  try {
    const { scopes } = await authenticateApiKey.execute(key);
    return requiredScopes.every((scope) => scopes.includes(scope));
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}
