export { Batcher, BatchSlots, type BatcherOptions } from './batcher.js';
export { createDataSource, type DatabaseOptions, poolOf } from './data-source.js';
export { isDatabaseUnavailable, isFaultOfStatement } from './database-unavailable.js';
export { isMigrated, migrateDown, migrateUp, type MigrationStatus, migrationStatus, withoutLockTimeout } from './migrations.js';
export type { Persistence } from './persistence.js';
export { PreparedStatement } from './prepared-statement.js';
export { retryRead } from './retry-read.js';
