import type { Operator } from '@animal-store/access-domain';
import { describeApiKeyRepository } from './api-key-repository-suite.js';
import { InMemoryApiKeys } from './in-memory-api-keys.js';

describeApiKeyRepository('InMemoryApiKeys', 'carol', () => Promise.resolve(new InMemoryApiKeys('carol' as Operator)));
