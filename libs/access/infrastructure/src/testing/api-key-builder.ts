import { NewApiKey, type NewApiKeyInput } from '@animal-store/access-domain';

export function aNewApiKey(overrides: Partial<NewApiKeyInput> = {}): NewApiKey {
  return NewApiKey.issue({
    clientName: 'acme',
    environment: 'test',
    scopes: ['pets:read'],
    createdAt: new Date('2026-11-21T12:00:00Z'),
    ...overrides,
  });
}
