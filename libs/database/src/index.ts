export { type Backfill, backfill } from './backfill.js';
export { Batcher } from './batcher.js';
export { BatchedRepository, type Filter, type InsertOnceResult, type NewRow, type EntityWithId } from './batched-repository.js';
export {
  type ConstraintErrors,
  /** @public For contexts with unique values, which `pets` does not have. */
  throwConstraintErrors,
} from './constraint-errors.js';
export { nameOfParameter } from './connection-parameters.js';
export { Database, type DatabaseOptions } from './database.js';
export { DatabaseClient } from './database-client.js';
export { DatabaseConnection } from './database-connection.js';
export { type DistributedTable, distributedTables } from './distribution.js';
export { durabilityRisk } from './durability.js';
export { formatServers, parseDatabaseUrl, percentDecode } from './database-url.js';
export { repeat } from './repeat.js';
export { describeError } from './events/describe-error.js';
export { appendEvents, eventsPersistence } from './events/event-log.js';
export { EventRunner, type EventObserver, type StoredEvent } from './events/event-runner.js';
export {
  DeleteOldEvents,
  eventStatus,
  forgetSubscription,
  type ParkedEvent,
  parkedEvents,
  retryParkedEvents,
  type SubscriptionStatus,
} from './events/event-status.js';
export {
  /** @public For a release that no longer handles an event. */
  ignore,
  on,
  subscribe,
  type Subscription,
} from './events/subscription.js';
export { FLAG_RULE, parseFlag } from './flag.js';
export { grantStatements, type RolePurpose } from './grants.js';
export { missingPrivileges } from './missing-privileges.js';
export { isLoginRejected, isDatabaseUnavailable, isNamedStatementLost, isStoppedByTimeout, mayRecover } from './database-unavailable.js';
export { IdempotencyKeyEntity } from './idempotency-key.entity.js';
export { ExpireIdempotencyKeys } from './expire-idempotency-keys.js';
export { type Job, jobsPersistence, jobState, runJob } from './job-runs.js';
export { MigrationLockError } from './migration-query-runner.js';
export {
  isMigrated,
  type LockWait,
  type MigrateOptions,
  migrateDown,
  type MigrationState,
  migrationState,
  type MigrationStatus,
  migrationStatus,
  migrationToUndo,
  migrateUp,
  withoutLockTimeout,
} from './migrations.js';
export type { Persistence, Privileges } from './persistence.js';
export { replicaLag, type ReplicaObserver, type Replicas } from './replicas.js';
export { retryRead } from './retry-read.js';
export { settingsToCorrect, UnsuitableDatabaseError } from './session-settings.js';
export { readSecretUrl, type SecretUrl, splitUrls } from './secret-url.js';
export type { Statement, StatementInterceptor, StatementObserver } from './statement-observer.js';
export { tlsAttempts } from './tls.js';
