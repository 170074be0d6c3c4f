export { AuthenticateApiKey } from './authenticate-api-key.js';
export { type ListedApiKey, ManageApiKeys } from './manage-api-keys.js';
export { ManageClients } from './manage-clients.js';
