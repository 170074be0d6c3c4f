export { describeMigrations } from './describe-migrations.js';
export { createMigratedDatabase } from './migrated-database.js';
export { type SpecDatabase, useDatabase } from './use-database.js';
