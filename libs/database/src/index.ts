export { Database, type DatabaseOptions, migrationStatus, pendingMigrations } from './database.js';
export type { Persistence, Privileges, Subscription } from './persistence.js';

// connection: opens connections, and explains their errors.
export { DatabaseClient } from './connection/database-client.js';
export { formatServer, parseDatabaseUrl, readCertificates, readSecretUrl, type SecretUrl, splitUrls } from './connection/database-url.js';
export { isDatabaseUnavailable } from './connection/error-meaning.js';
export { repeat, retryRead } from './connection/retry.js';
export { durabilityRisk } from './connection/session-settings.js';
export type { Statement, StatementInterceptor, StatementObserver } from './connection/statement.js';

// statements: prepared statements, and calls that share one.
export { Batcher } from './statements/batcher.js';
export {
  type ConstraintErrors,
  /** @public For contexts with unique values, which `pets` does not have. */
  throwConstraintErrors,
} from './statements/constraint-errors.js';

// replicas: serve lists.
export { type ReplicaObserver, type Replicas } from './replicas/replicas.js';

// batching: the repository of the hot path, and idempotency keys.
export { BatchedRepository, type EntityWithId, type Filter, type InsertOnceResult, type NewRow } from './batching/batched-repository.js';
export { ExpireIdempotencyKeys, IdempotencyKeyEntity } from './batching/idempotency-keys.js';
export {
  /** @public For commands, which `pets` does not have. */
  runOnce,
} from './batching/run-once.js';

// migrations: run in one process at a time; grants of the roles.
export { type DistributedTable, distributedTables } from './migrations/distribution.js';
export { grantStatements, type RolePurpose } from './migrations/grants.js';
export {
  ForwardMigration,
  type MigrateOptions,
  migrateUp,
  MigrationError,
  /** @public For a migration that creates an index concurrently. */
  withoutLockTimeout,
} from './migrations/migrations.js';

// events: stored with the row, handled once by each subscription.
export {
  appendEvents,
  eventsPersistence,
  /** @public For a release that no longer handles an event. */
  ignore,
  on,
  subscribe,
} from './events/events.js';
export { type EventObserver, EventRunner } from './events/event-runner.js';
export {
  eventStatus,
  forgetSubscription,
  type ParkedEvent,
  parkedEvents,
  retryParkedEvents,
  type SubscriptionStatus,
} from './events/event-status.js';
export { describeError, type StoredEvent } from './events/stored-event.js';

// jobs: run in one process of the deployment at a time.
export { type Job, jobsPersistence, jobState, runJob } from './jobs/job-runs.js';
