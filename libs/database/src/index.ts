export { Database, type DatabaseOptions, migrationStatus, pendingMigrations } from './database.js';
export type * from './persistence.js';

// connection: opens connections, and explains their errors.
export { DatabaseClient } from './connection/database-client.js';
export { withDeadline } from './connection/deadline.js';
export { checkCertificates, formatServer, parseDatabaseUrl, readSecret, type SecretUrl, splitUrls } from './connection/database-url.js';
export { isDatabaseUnavailable } from './connection/error-meaning.js';
export { repeat, retryRead } from './connection/retry.js';
export { durabilityRisk } from './connection/session-settings.js';
export type { Statement, StatementInterceptor } from './connection/statement.js';

// statements: prepared statements, and calls that share one.
export { Batcher } from './statements/batcher.js';
export * from './statements/constraint-errors.js';

// batching: the repository of the hot path, and idempotency keys.
export { BatchedRepository, type EntityWithId, type Filter, type NewRow } from './batching/batched-repository.js';
export { ExpireIdempotencyKeys, IdempotencyKeyEntity } from './batching/idempotency-keys.js';
export * from './batching/run-once.js';

// migrations: run in one process at a time; grants of the roles.
export { type DistributedTable, distributedTables } from './migrations/distribution.js';
export { grantStatements, type RolePurpose } from './migrations/grants.js';
export * from './migrations/migrations.js';

// events: stored with the row, handled once by each subscription.
export { currentManager, EventSubscription, isEventHandler, OnEvent, subscriptionOf } from './events/event-handlers.js';
export * from './events/events.js';
export { type EventObserver, EventRunner } from './events/event-runner.js';
export * from './events/event-status.js';
export { describeError, type StoredEvent } from './events/stored-event.js';

// jobs: run in one process of the deployment at a time.
export * from './jobs/job-runs.js';
