export { createDataSource, type DatabaseOptions, poolOf } from './data-source.js';
export { isDatabaseUnavailable } from './database-unavailable.js';
export { migrateDown, migrateUp, type MigrationStatus, migrationStatus, pendingMigrations } from './migrations.js';
export type { Persistence } from './persistence.js';
