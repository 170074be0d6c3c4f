export {
  API_KEY_NOT_FOUND,
  CLIENT_NOT_FOUND,
  INSUFFICIENT_SCOPE,
  INVALID_API_KEY,
  INVALID_KEY_REQUEST,
  MISSING_API_KEY,
} from './access-errors.js';
export {
  ApiKey,
  type ApiKeyId,
  type ApiKeyRecord,
  type ApiKeyState,
  type ClientRecord,
  isScope,
  type KeyRotation,
  NewApiKey,
  type NewApiKeyInput,
  type Scope,
  SCOPES_RULE,
} from './api-key.js';
export { type ApiKeyFilter, ApiKeyRepository } from './api-key-repository.js';
export {
  type ApiKeyPrefix,
  type ApiKeySecret,
  generateApiKeySecret,
  isApiKeySecret,
  isKeyEnvironment,
  KEY_ENVIRONMENT_RULE,
  type KeyEnvironment,
  prefixOf,
  redactKeys,
} from './api-key-secret.js';
export {
  type AuditAction,
  type AuditEntry,
  type AuditEvent,
  type AuditEventId,
  type AuditPage,
  clientChanged,
  keyCreated,
  keyRevoked,
  keyRotated,
  type Operator,
  UNKNOWN_OPERATOR,
} from './audit.js';
export {
  type Client,
  CLIENT_NAME_RULE,
  type ClientId,
  type ClientName,
  disableClient,
  enableClient,
  isClientName,
  isRateLimit,
  MAX_RATE_LIMIT,
  normalizeName,
  RATE_LIMIT_RULE,
} from './client.js';
export { escapeControlCharacters, sanitiseForTerminal } from './escape-control-characters.js';
