export { aNewApiKey } from './api-key-builder.js';
export { describeApiKeyRepository } from './api-key-repository-suite.js';
export { InMemoryApiKeys } from './in-memory-api-keys.js';
export { SettableClock } from './settable-clock.js';
