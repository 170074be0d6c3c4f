export { Clock, SystemClock } from './clock.js';
export { DomainError, type ErrorDefinition, type ErrorKind } from './domain-error.js';
export { defineEvent, type DomainEvent, EventDefinition, type EventPayload } from './domain-event.js';
export { INT64_MAX, INT64_MIN, INT64_RULE, int64FromJsonNumber, isInt64, parseInt64 } from './int64.js';
export { JsonText } from './json-text.js';
export {
  DEFAULT_PAGE_SIZE,
  JsonPage,
  MAX_PAGE_SIZE,
  type Order,
  type OrderValue,
  type Page,
  type PageRequest,
  type Position,
} from './page.js';
export {
  assertSameRequest,
  IDEMPOTENCY_KEY_LIFETIME_HOURS,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type Outcome,
  type Precondition,
  PRECONDITION_FAILED,
  PRECONDITION_REQUIRED,
  type Principal,
} from './request.js';
export { isUtcTime, parseUtcTime, UTC_TIME_RULE } from './utc-time.js';
export { isVisibleText, VISIBLE_TEXT_PATTERN, visibleTextRule } from './visible-text.js';
