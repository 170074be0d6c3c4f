export { createTestDatabase, type TestDatabase } from './test-database.js';
export { startThrowAwayPostgres, type ThrowAwayPostgres } from './throw-away-postgres.js';
