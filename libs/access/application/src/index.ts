export { AuthenticateApiKey } from './authenticate-api-key.js';
export { CreateApiKey, type CreateApiKeyInput, type CreatedApiKey } from './create-api-key.js';
export { ListApiKeys, type ListedApiKey } from './list-api-keys.js';
export { type AuditTrailPage, DEFAULT_AUDIT_LIMIT, ListAudit, type ListAuditInput, MAX_AUDIT_LIMIT } from './list-audit.js';
export { ManageClients } from './manage-clients.js';
export { RevokeApiKey } from './revoke-api-key.js';
export { DEFAULT_OVERLAP_MS, RotateApiKey, type RotatedApiKey } from './rotate-api-key.js';
