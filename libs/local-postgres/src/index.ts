export { LocalPostgresError } from './local-postgres-error.js';
export { type LocalPostgres, startLocalPostgres, type StartOptions, useLocalPostgres } from './local-postgres.js';
