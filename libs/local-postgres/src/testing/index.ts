export { type Certificates, createCertificates } from './certificates.js';
export { DurablePostgres } from './durable-postgres.js';
export { findFreePort } from './find-free-port.js';
export { setOddSettings } from './odd-settings.js';
export { query } from './query.js';
export { TcpProxy } from './tcp-proxy.js';
export { copyTestDatabase, createTestDatabase, type TestDatabase } from './test-database.js';
export { startThrowAwayPostgres, type ThrowAwayPostgres } from './throw-away-postgres.js';
export { waitFor } from './wait-for.js';
