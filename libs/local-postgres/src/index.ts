export { type Account, findAccount, findClosedFolder, setprivCommand } from './account.js';
export { LocalPostgresError } from './local-postgres-error.js';
export { type LocalPostgres, type ServicePostgres, startLocalPostgres, connectLocalPostgres } from './local-postgres.js';
export { replacePrivateFile } from './private-file.js';
