export {
  Public,
  PUBLIC,
  RATE_LIMIT,
  RATE_LIMIT_EXTENSION,
  RateLimit,
  type RateLimitPolicy,
  REQUIRED_SCOPES,
  RequireScopes,
  SCOPES_EXTENSION,
} from './access.js';
export {
  ENTITY_TAG_EXTENSION,
  entityTagOf,
  IfMatch,
  matchesStrongly,
  PRECONDITION_EXTENSION,
  Revalidated,
  REVALIDATION_EXTENSION,
  SendsEntityTag,
} from './conditional-requests.js';
export { Deprecated, type Deprecation, DEPRECATION_EXTENSION, OPERATION_REMOVED } from './deprecation.js';
export { INVALID_REQUEST, Throws, THROWS_EXTENSION } from './errors.js';
export {
  createdHeaders,
  /** @public For commands, which `pets` does not have. */
  replayedHeaders,
  RequestIdempotencyKey,
  respondWithOutcome,
} from './idempotency-key.js';
export { EXAMPLE_ID, IdParam, INT64_SCHEMA } from './identifiers.js';
export { type OrderedPageQuery, OrderedPageQueryOf, pageHeaders, type PageQuery, PageQueryOf, respondWithPage } from './pages.js';
export { provideUseCase, PublicUrl } from './providers.js';
export {
  DomainRule,
  IsInt64,
  IsVisibleText,
  MayBeAbsent,
  Nullable,
  QueryInt64,
  QueryInteger,
  QueryTime,
  Rule,
  UtcTime,
} from './validation-rules.js';
