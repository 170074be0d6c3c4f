export { type Account, findAccount, setprivCommand } from './account.js';
export { LocalPostgresError } from './local-postgres-error.js';
export { type LocalPostgres, type ServicePostgres, startLocalPostgres, connectLocalPostgres } from './local-postgres.js';
