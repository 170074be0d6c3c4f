export { BatchedRepository, type Filter, type InsertedOnce, type NewRow, type Numbered } from './batched-repository.js';
export { createDataSource, type DatabaseOptions, poolOf } from './data-source.js';
export { isDatabaseUnavailable } from './database-unavailable.js';
export { IdempotencyKeyEntity } from './idempotency-key.entity.js';
export { forgetExpiredIdempotencyKeys } from './idempotency-keys.js';
export { isMigrated, migrateDown, migrateUp, type MigrationStatus, migrationStatus, withoutLockTimeout } from './migrations.js';
export type { Persistence } from './persistence.js';
export { retryRead } from './retry-read.js';
