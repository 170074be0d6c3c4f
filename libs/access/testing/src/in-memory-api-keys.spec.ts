import { describeApiKeyRepository } from './api-key-repository-contract.js';
import { InMemoryApiKeys } from './in-memory-api-keys.js';

describeApiKeyRepository('InMemoryApiKeys', () => Promise.resolve(new InMemoryApiKeys()));
