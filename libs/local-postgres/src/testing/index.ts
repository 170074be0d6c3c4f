export { type Certificates, createCertificates } from './certificates.js';
export { findFreePort, TcpProxy } from './tcp-proxy.js';
export { DurablePostgres, startThrowAwayPostgres, type ThrowAwayPostgres } from './servers.js';
export { copyTestDatabase, createTestDatabase, query, setOddSettings, type TestDatabase } from './test-database.js';
export { waitFor } from './wait-for.js';
