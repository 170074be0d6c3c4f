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
export {
  createdHeaders,
  /** @public For commands, which `pets` does not have. */
  replayedHeaders,
  RequestIdempotencyKey,
  respondWithOutcome,
} from './idempotency-key.js';
export { type OrderedPageQuery, OrderedPageQueryOf, pageHeaders, type PageQuery, PageQueryOf, respondWithPage } from './pages.js';
export {
  Deprecated,
  type Deprecation,
  DEPRECATION_EXTENSION,
  INVALID_REQUEST,
  OPERATION_REMOVED,
  provideUseCase,
  Public,
  PUBLIC,
  PublicUrl,
  RATE_LIMIT,
  RATE_LIMIT_EXTENSION,
  RateLimit,
  type RateLimitPolicy,
  REQUIRED_SCOPES,
  RequireScopes,
  SCOPES_EXTENSION,
  Throws,
  THROWS_EXTENSION,
} from './routes.js';
export {
  DomainRule,
  EXAMPLE_ID,
  IdParam,
  INT64_SCHEMA,
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
