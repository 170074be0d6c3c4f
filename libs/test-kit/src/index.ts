export { describeMigrations } from './describe-migrations.js';
export { createMigratedDatabase, type SpecDatabase, useDatabase } from './use-database.js';
