export { Public, PUBLIC, REQUIRED_SCOPES, RequireScopes, SCOPES_EXTENSION } from './require-scopes.js';
export { Deprecated, type Deprecation, DEPRECATION, DEPRECATION_EXTENSION } from './deprecation.js';
export { ETAG_HEADER, entityTagOf } from './entity-tag.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export { IdPipe } from './id.pipe.js';
export { ApiIdempotencyKey, createdHeaders, RequestIdempotencyKey, respondWithCreated } from './idempotency-key.js';
export { IfMatch, matchesStrongly, PRECONDITION_EXTENSION, SendsEntityTag } from './if-match.js';
export { EXAMPLE_ID, INT64_SCHEMA } from './int64-schema.js';
export { pageHeaders, type PageQuery, PageQueryOf, respondWithPage } from './pages.js';
export { PublicUrl } from './public-url.js';
export { RATE_LIMIT, RATE_LIMIT_EXTENSION, RateLimit, type RateLimitPolicy } from './rate-limit.js';
export { Revalidated, REVALIDATION_HEADERS } from './revalidation.js';
export { provideUseCase } from './provide-use-case.js';
export { Conversion, IsInt64, IsVisibleText, MayBeAbsent, QueryInt64, QueryInteger, Rule } from './validation-rules.js';
// Extend the types of Fastify.
import './header-violations.js';
