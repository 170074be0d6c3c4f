export {
  API_KEY_NOT_FOUND,
  CLIENT_NOT_FOUND,
  INSUFFICIENT_SCOPE,
  INVALID_API_KEY,
  INVALID_KEY_REQUEST,
  MISSING_API_KEY,
} from './access-errors.js';
export {
  type ApiKey,
  type ApiKeyState,
  type IssuedApiKey,
  issueApiKey,
  type KeyRotation,
  type NewApiKey,
  type NewApiKeyInput,
  notBeforeCreation,
  rotateApiKey,
  type RotatedApiKey,
  stateOf,
} from './api-key.js';
export { ApiKeyRepository } from './api-key-repository.js';
export {
  type ApiKeySecret,
  generateApiKeySecret,
  isApiKeySecret,
  isKeyEnvironment,
  KEY_ENVIRONMENT_RULE,
  type KeyEnvironment,
  prefixOf,
  redactKeys,
} from './api-key-secret.js';
export { type AuditEvent } from './audit.js';
export { type Client, type ClientChange, CLIENT_NAME_RULE, isClientName, MAX_RATE_LIMIT, normalizeName } from './client.js';
export { escapeControlCharacters, sanitiseForTerminal } from './escape-control-characters.js';
