export { type Account, accountFor, setprivCommand } from './account.js';
export { LocalPostgresError } from './local-postgres-error.js';
export { type LocalPostgres, type ServicePostgres, startLocalPostgres, useLocalPostgres } from './local-postgres.js';
