export { LocalPostgresError } from './local-postgres-error.js';
export { connectLocalPostgres, type ServicePostgres, startLocalPostgres } from './local-postgres.js';
