import { API_KEY_NOT_FOUND, type ApiKeyId, type ApiKeyRepository, isApiKeySecret, redactKeys } from '@animal-store/access-domain';
import { DomainError, parseInt64 } from '@animal-store/kernel';

/**
 * Returns the id of the key with this identifier, this visible prefix (if it is unique), or this secret.
 * @throws DomainError API_KEY_NOT_FOUND
 */
export async function findApiKeyId(keys: ApiKeyRepository, reference: string): Promise<ApiKeyId> {
  const id = parseInt64(reference);
  if (id !== undefined) return id as ApiKeyId;
  if (isApiKeySecret(reference)) {
    const key = await keys.findBySecret(reference);
    if (!key) throw apiKeyNotFound(reference);
    return key.id;
  }
  const [key, ...others] = await keys.list({ prefix: reference });
  if (!key) throw apiKeyNotFound(reference);
  if (others.length > 0) {
    const ids = [key, ...others].map((other) => String(other.id)).join(', ');
    throw new DomainError(API_KEY_NOT_FOUND, `Several API keys have the prefix ${reference}. Use one of the ids ${ids}.`);
  }
  return key.id;
}

/** Returns the error for a reference that matches no key. */
export function apiKeyNotFound(reference: string): DomainError {
  return new DomainError(API_KEY_NOT_FOUND, `No API key matches ${redactKeys(reference)}.`);
}
