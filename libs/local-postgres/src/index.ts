export { type Account, findAccount, findClosedFolder, setprivCommand } from './account.js';
export { LocalPostgresError } from './local-postgres-error.js';
export { connectLocalPostgres, startLocalPostgres } from './local-postgres.js';
export { replacePrivateFile } from './private-file.js';
export type { ServicePostgres } from './service-postgres.js';
