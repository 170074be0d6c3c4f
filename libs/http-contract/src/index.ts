export { Public, PUBLIC, REQUIRED_SCOPES, RequireScopes, SCOPES_EXTENSION } from './access.js';
export { answerCreated, createdHeaders } from './created.js';
export { Deprecated, type Deprecation, DEPRECATION, DEPRECATION_EXTENSION } from './deprecation.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export { EXAMPLE_ID } from './example-id.js';
export { IdPipe } from './id.pipe.js';
export { IdempotentByKey, RequestIdempotencyKey } from './idempotency-key.js';
export { answerPage, pageHeaders, type PageQuery, PageQueryOf } from './pages.js';
export type { Principal } from './principal.js';
export { PublicUrl } from './public-url.js';
export { Revalidated, REVALIDATION_HEADERS } from './revalidation.js';
export { useCase } from './use-case.js';
export { MayBeAbsent, MemberRule, QueryInt64, QueryInteger, Rule } from './validation-rules.js';
// Extends the types of Fastify.
import './route-config.js';
