import type { Persistence } from '@animal-store/database';

/** Returns the persistence of all contexts. They are imported dynamically, since most commands need neither them nor NestJS. */
export async function loadPersistence(): Promise<readonly Persistence[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.map(({ persistence }) => persistence);
}

/** Returns all scopes of this deployment. */
export async function loadScopes(): Promise<readonly string[]> {
  const { contexts } = await import('@animal-store/api/contexts');
  return contexts.flatMap(({ scopes }) => scopes ?? []);
}
