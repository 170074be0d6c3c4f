import { type ApiKeySecret, type IssuedApiKey, KeyHasher, type KeyHash, NewApiKey, type NewApiKeyInput } from '@animal-store/access-domain';
import { hash } from 'node:crypto';

export class TestKeyHasher extends KeyHasher {
  override hash(secret: ApiKeySecret): KeyHash {
    return hash('sha256', secret, 'hex') as KeyHash;
  }
}

export function anIssuedApiKey(overrides: Partial<NewApiKeyInput> = {}): IssuedApiKey {
  return NewApiKey.issue(
    { clientName: 'acme', environment: 'test', scopes: ['pets:read'], createdAt: new Date('2026-11-21T12:00:00Z'), ...overrides },
    new TestKeyHasher(),
  );
}

export function aNewApiKey(overrides: Partial<NewApiKeyInput> = {}): NewApiKey {
  return anIssuedApiKey(overrides).key;
}
