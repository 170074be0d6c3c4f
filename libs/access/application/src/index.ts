export { AuthenticateApiKey } from './authenticate-api-key.js';
export {
  type CreatedApiKey,
  DEFAULT_AUDIT_LIMIT,
  DEFAULT_OVERLAP_MS,
  type ListedApiKey,
  ManageApiKeys,
  MAX_AUDIT_LIMIT,
  type RotatedApiKey,
} from './manage-api-keys.js';
export { ManageClients } from './manage-clients.js';
