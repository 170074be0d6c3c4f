export { Public, PUBLIC, REQUIRED_SCOPES, RequireScopes, SCOPES_EXTENSION } from './require-scopes.js';
export { createdHeaders, respondWithCreated } from './created-response.js';
export { Deprecated, type Deprecation, DEPRECATION, DEPRECATION_EXTENSION } from './deprecation.js';
export { ETAG_HEADER, entityTagOf } from './entity-tag.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export { EXAMPLE_ID } from './example-id.js';
export { IdPipe } from './id.pipe.js';
export { ApiIdempotencyKey, RequestIdempotencyKey } from './idempotency-key.js';
export { IfMatch, PRECONDITION_EXTENSION } from './if-match.js';
export { INT64_SCHEMA } from './int64-schema.js';
export { pageHeaders, type PageQuery, PageQueryOf, respondWithPage } from './pages.js';
export type { Principal } from './principal.js';
export { PublicUrl } from './public-url.js';
export { RATE_LIMIT, RATE_LIMIT_EXTENSION, RateLimit, type RateLimitPolicy } from './rate-limit.js';
export { Revalidated, REVALIDATION_HEADERS } from './revalidation.js';
export { provideUseCase } from './provide-use-case.js';
export { MayBeAbsent, MemberRule, QueryInt64, QueryInteger, Rule } from './validation-rules.js';
// Extends the types of Fastify.
import './route-config.js';
