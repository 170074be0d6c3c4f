import type { Persistence } from '@animal-store/database';

/** What the contexts of the deployment keep. The import is dynamic, since most commands need neither them nor NestJS. */
export async function allPersistence(): Promise<readonly Persistence[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.map(({ persistence }) => persistence);
}

/** What API keys may allow in this deployment. */
export async function knownScopes(): Promise<readonly string[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.flatMap(({ scopes }) => scopes ?? []);
}
