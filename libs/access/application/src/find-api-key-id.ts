import { API_KEY_NOT_FOUND, type ApiKeyId, type ApiKeyRepository } from '@animal-store/access-domain';
import { DomainError, parseInt64 } from '@animal-store/kernel';

/**
 * Reads what an operator calls a key by: its identifier, or its visible prefix as long as no other key has the same.
 * @throws DomainError API_KEY_NOT_FOUND
 */
export async function findApiKeyId(keys: ApiKeyRepository, reference: string): Promise<ApiKeyId> {
  const id = parseInt64(reference);
  if (id !== undefined) return id as ApiKeyId;
  const [key, ...others] = await keys.list({ prefix: reference });
  if (!key) throw notFound(reference);
  if (others.length > 0) {
    const ids = [key, ...others].map((other) => String(other.id)).join(', ');
    throw new DomainError(API_KEY_NOT_FOUND, `Several API keys begin with ${reference}: use one of the identifiers ${ids}.`);
  }
  return key.id;
}

export function notFound(reference: string): DomainError {
  return new DomainError(API_KEY_NOT_FOUND, `No API key is called ${reference}.`);
}
