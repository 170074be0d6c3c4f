export { Public, PUBLIC, REQUIRED_SCOPES, RequireScopes, SCOPES_EXTENSION } from './access.js';
export { Deprecated, type Deprecation, DEPRECATION, DEPRECATION_EXTENSION } from './deprecation.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export { IdempotentByKey, REPLAY_HEADERS, RequestIdempotencyKey } from './idempotency-key.js';
export type { Principal } from './principal.js';
export { PublicUrl } from './public-url.js';
export { Revalidated, REVALIDATION_HEADERS } from './revalidation.js';
export { MayBeAbsent, MemberRule, QueryInteger, Rule } from './validation-rules.js';
// For what it adds to the types of Fastify.
import './route-config.js';
