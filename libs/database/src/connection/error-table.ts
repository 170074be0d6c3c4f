/**
 * What an error means:
 * - `unavailable`: the database cannot serve now. Requests get a 503, and connecting is retried at the start.
 * - `permanent`: retrying at the start is useless.
 * - `repeatable`: a read may be repeated at once, on another connection.
 * - `usable`: the session and its connection can be used again.
 * - `row`: a single row may have caused it. The statement had no effect.
 * - `conflict`: the statement was rolled back because of a concurrent one, so also a write may be repeated.
 * - `login`: the server rejected the login, or the database does not exist.
 * - `timeout`: a timeout of the server stopped a statement or ended a session.
 * - `named`: a prepared statement is missing or already exists. Happens behind poolers that do not track statements.
 * - `machine`: this machine lacks memory or descriptors, also for files.
 */
export type Trait = 'unavailable' | 'permanent' | 'repeatable' | 'usable' | 'row' | 'conflict' | 'timeout' | 'login' | 'named' | 'machine';

/** sqlclient_unable_to_establish_sqlconnection: our code for an unusable URL, failed TLS, and several servers that all failed. */
export const CANNOT_CONNECT = '08001';
/** connection_does_not_exist: our code if a pool or a query runner has no connection. */
export const NOT_CONNECTED = '08003';
/** connection_failure: our code if the connection was lost. */
const CONNECTION_LOST = '08006';
/** invalid_authorization_specification: also our code for a login that the server rejects for another reason. */
export const LOGIN_REJECTED = '28000';
export const TIMED_OUT = 'ETIMEDOUT';

type Row = readonly [codes: string, source: string, ...traits: Trait[]];

/**
 * A row decides a SQLSTATE, a class of them (its first two characters), or system errors. What is missing is a bug, and its connection
 * is closed. Class names: https://www.postgresql.org/docs/current/errcodes-appendix.html. `src/…` is a file of PostgreSQL 18.
 */
const SQLSTATES: readonly Row[] = [
  ['08', 'connection exception; PgBouncer reports most of its errors as 08P01', 'unavailable'],
  [CANNOT_CONNECT, 'database-client.ts', 'unavailable', 'permanent'],
  [CONNECTION_LOST, 'LIBRARY_ERRORS, below', 'unavailable', 'repeatable'],
  ['21', 'cardinality violation, of a subquery', 'usable'],
  ['22', 'data exception', 'row', 'usable'],
  ['23', 'integrity constraint violation', 'row', 'usable'],
  // 25P02, in failed transaction, is a bug, and the connection is closed because its transaction is still open.
  ['25006', 'read_only_sql_transaction: PreventCommandIfReadOnly in src/backend/tcop/utility.c', 'unavailable'],
  [
    '25P03',
    'idle_in_transaction_session_timeout: ProcessInterrupts in src/backend/tcop/postgres.c',
    'unavailable',
    'repeatable',
    'timeout',
  ],
  ['25P04', 'transaction_timeout: ProcessInterrupts in src/backend/tcop/postgres.c', 'unavailable', 'timeout'],
  ['26000', 'invalid_sql_statement_name: FetchPreparedStatement in src/backend/commands/prepare.c', 'unavailable', 'named'],
  ['28', 'invalid authorization: src/backend/libpq/auth.c', 'unavailable', 'login'],
  ['3D000', 'invalid_catalog_name: InitPostgres in src/backend/utils/init/postinit.c', 'unavailable', 'login'],
  ['40', 'transaction rollback: serialization failure (40001), deadlock (40P01)', 'unavailable', 'repeatable', 'usable', 'conflict'],
  ['40003', 'statement_completion_unknown: the transaction may be committed', 'unavailable'],
  ['42', 'syntax error or access rule violation', 'usable'],
  ['42P05', 'duplicate_prepared_statement: StorePreparedStatement in src/backend/commands/prepare.c', 'unavailable', 'named'],
  ['44', 'WITH CHECK OPTION violation, of a view', 'row', 'usable'],
  ['53', 'insufficient resources: memory, disk, connections', 'unavailable'],
  ['54', 'program limit exceeded, for example the size of an index entry', 'row', 'usable'],
  ['55P03', 'lock_not_available, also lock_timeout: ProcessInterrupts in src/backend/tcop/postgres.c', 'unavailable', 'usable', 'timeout'],
  ['57', 'operator intervention: 57P03 starting up, 57P04 database dropped', 'unavailable'],
  ['57014', 'query_canceled, also statement_timeout: ProcessInterrupts', 'unavailable', 'permanent', 'usable', 'timeout'],
  ['57P01', 'admin_shutdown: ProcessInterrupts', 'unavailable', 'repeatable'],
  ['57P02', 'crash_shutdown: quickdie in src/backend/tcop/postgres.c', 'unavailable', 'repeatable'],
  ['57P05', 'idle_session_timeout: ProcessInterrupts', 'unavailable', 'repeatable', 'timeout'],
  ['58', 'system error of the server, for example an I/O error', 'unavailable'],
  ['72', 'snapshot too old', 'unavailable', 'repeatable', 'usable'],
  ['P0', 'PL/pgSQL error, for example RAISE in a trigger', 'row', 'usable'],
];

/** https://docs.libuv.org/en/v1.x/errors.html, https://nodejs.org/api/dns.html#error-codes, and the manual pages of Linux. */
const SYSTEM_ERRORS: readonly Row[] = [
  ['ECONNRESET EPIPE', 'tcp(7): an established connection was lost', 'unavailable', 'repeatable'],
  ['ECONNABORTED ENETRESET ENOTCONN ESHUTDOWN', 'POSIX: an established connection was lost', 'unavailable', 'repeatable'],
  ['ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END', 'nodejs.org/api/errors.html: a write after the end', 'unavailable', 'repeatable'],
  [TIMED_OUT, 'connect(2), tcp(7), and our timeouts', 'unavailable'],
  ['ERR_SOCKET_CONNECTION_TIMEOUT', 'net.js of Node.js: autoSelectFamily', 'unavailable'],
  ['ECONNREFUSED', 'connect(2): nobody listens', 'unavailable'],
  ['EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENONET', 'connect(2), ip(7): no route to the server', 'unavailable'],
  ['EACCES EPERM', 'connect(2): permissions of a socket, firewall rules', 'unavailable'],
  ['EADDRNOTAVAIL EADDRINUSE EAGAIN', 'connect(2): no free local port, full backlog of a Unix socket', 'unavailable'],
  ['ENOENT ENOTDIR ENOTSOCK EPROTOTYPE', 'unix(7): no socket at the path', 'unavailable'],
  ['EAFNOSUPPORT EPROTONOSUPPORT', 'socket(2): no IPv6', 'unavailable'],
  ['EMFILE ENFILE ENOBUFS ENOMEM', 'socket(2): no descriptors or memory', 'unavailable', 'machine'],
  ['ENOTFOUND', 'dns.lookup(): EAI_NONAME and EAI_NODATA of getaddrinfo(3)', 'unavailable'],
  ['EAI_AGAIN EAI_FAIL EAI_MEMORY EAI_NODATA EAI_NONAME EAI_ADDRFAMILY EAI_CANCELED', 'getaddrinfo(3)', 'unavailable'],
  ['ESERVFAIL ETIMEOUT EREFUSED', 'dns.resolve(), for a custom lookup', 'unavailable'],
];

export const ERROR_TABLE: readonly Row[] = [...SQLSTATES, ...SYSTEM_ERRORS];

/** Errors of libraries that have no code. The texts are exact and never translated; a spec finds each in the installed library. */
export const LIBRARY_ERRORS: Readonly<Record<string, readonly [module: string, code: string]>> = {
  'Connection terminated unexpectedly': ['pg/lib/client.js', CONNECTION_LOST],
  'Client has encountered a connection error and is not queryable': ['pg/lib/client.js', CONNECTION_LOST],
  'Client was closed and is not queryable': ['pg/lib/client.js', CONNECTION_LOST],
  'Connection terminated': ['pg/lib/client.js', NOT_CONNECTED],
  'timeout expired': ['pg/lib/client.js', TIMED_OUT],
  'Query read timeout': ['pg/lib/client.js', TIMED_OUT],
  // In response to the request for TLS, a server that cannot start a process sends an error.
  'There was an error establishing an SSL connection': ['pg/lib/connection.js', NOT_CONNECTED],
  'Connection terminated due to connection timeout': ['pg-pool', TIMED_OUT],
  'timeout exceeded when trying to connect': ['pg-pool', TIMED_OUT],
  'Cannot use a pool after calling end on the pool': ['pg-pool', NOT_CONNECTED],
  'Driver not Connected': ['typeorm/driver/postgres/PostgresDriver.js', NOT_CONNECTED],
  // TypeORM releases the query runner of a lost connection.
  'Query runner already released. Cannot run queries anymore.': ['typeorm/error/QueryRunnerAlreadyReleasedError.js', NOT_CONNECTED],
  'Database connection provided by a query runner was already released, cannot continue to use its querying methods anymore.': [
    'typeorm/error/QueryRunnerProviderAlreadyReleasedError.js',
    NOT_CONNECTED,
  ],
};

const traitsByCode = new Map(ERROR_TABLE.flatMap(([codes, , ...traits]) => codes.split(' ').map((code) => [code, new Set(traits)])));

/** Returns the traits of a code, or of the class of a SQLSTATE. */
export function traitsOf(code: string): ReadonlySet<Trait> | undefined {
  return traitsByCode.get(code) ?? (code.length === 5 ? traitsByCode.get(code.slice(0, 2)) : undefined);
}
