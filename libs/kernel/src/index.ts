export { Clock, SystemClock } from './clock.js';
export { DomainError, type ErrorDefinition, type ErrorKind } from './domain-error.js';
export { INT64_MAX, INT64_MIN, int64FromJsonNumber, isInt64, parseInt64 } from './int64.js';
export { JsonText } from './json-text.js';
