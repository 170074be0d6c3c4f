export { LocalPostgresError } from './local-postgres-error.js';
export { type LocalPostgres, startLocalPostgres, useLocalPostgres } from './local-postgres.js';
