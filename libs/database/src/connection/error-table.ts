/**
 * What an error means:
 * - `unavailable`: the database cannot serve now. Requests get a 503, and connecting is retried at the start.
 * - `repeatable`: a read may be repeated at once, on another connection.
 * - `conflict`: the statement was rolled back because of a concurrent one, so also a write may be repeated.
 * - `row`: a single row may have caused it. The statement had no effect.
 */
export type Trait = 'unavailable' | 'repeatable' | 'conflict' | 'row';

/** sqlclient_unable_to_establish_sqlconnection: our code for every failure to connect that has none. */
export const CANNOT_CONNECT = '08001';
/** connection_does_not_exist: our code if a pool or a query runner has no connection. */
const NOT_CONNECTED = '08003';
/** connection_failure: our code if the connection was lost. */
const CONNECTION_LOST = '08006';
export const TIMED_OUT = 'ETIMEDOUT';

/**
 * A code, or a class of SQLSTATEs (its first two characters), with its traits. Of what is missing, each is a bug.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const ERROR_TABLE: Readonly<Record<string, readonly Trait[]>> = {
  // Connection exception; PgBouncer reports most of its errors as 08P01.
  '08': ['unavailable'],
  [CONNECTION_LOST]: ['unavailable', 'repeatable'],
  // Data exception, integrity constraint violation.
  '22': ['row'],
  '23': ['row'],
  // read_only_sql_transaction: of a server that an operator made read-only.
  '25006': ['unavailable'],
  // idle_in_transaction_session_timeout, transaction_timeout.
  '25P03': ['unavailable', 'repeatable'],
  '25P04': ['unavailable'],
  // A prepared statement is missing or already exists. `PreparedExecution` has repeated it.
  '26000': ['unavailable'],
  '42P05': ['unavailable'],
  // Invalid authorization, invalid catalogue name: the login was rejected, or the database does not exist.
  '28': ['unavailable'],
  '3D': ['unavailable'],
  // invalid_schema_name, insufficient_privilege, undefined_table: a restore, a migration or a GRANT is not finished.
  '3F': ['unavailable'],
  '42501': ['unavailable'],
  '42P01': ['unavailable'],
  // Transaction rollback: serialization failure, deadlock. After 40003, the transaction may be committed.
  '40': ['unavailable', 'repeatable', 'conflict'],
  '40003': ['unavailable'],
  // WITH CHECK OPTION violation, of a view.
  '44': ['row'],
  // Insufficient resources: memory, disk, connections.
  '53': ['unavailable', 'repeatable'],
  // Program limit exceeded, for example the size of an index entry.
  '54': ['row'],
  // Object not in prerequisite state, object in use, lock_not_available (also lock_timeout).
  '55': ['unavailable'],
  // Operator intervention, also statement_timeout (57014).
  '57': ['unavailable'],
  // admin_shutdown, crash_shutdown, idle_session_timeout.
  '57P01': ['unavailable', 'repeatable'],
  '57P02': ['unavailable', 'repeatable'],
  '57P05': ['unavailable', 'repeatable'],
  // System error of the server, for example an I/O error.
  '58': ['unavailable'],
  // Snapshot too old, before PostgreSQL 17.
  '72': ['unavailable', 'repeatable'],
  // PL/pgSQL error, for example RAISE in a trigger.
  P0: ['row'],
  // internal_error: an object was dropped or changed while the statement was planned, such as "could not open relation with OID".
  XX000: ['repeatable', 'conflict'],
  // Errors of the system: a lost connection.
  ECONNREFUSED: ['unavailable'],
  ECONNRESET: ['unavailable', 'repeatable'],
  ECONNABORTED: ['unavailable', 'repeatable'],
  EPIPE: ['unavailable', 'repeatable'],
  ERR_STREAM_DESTROYED: ['unavailable', 'repeatable'],
  ERR_STREAM_WRITE_AFTER_END: ['unavailable', 'repeatable'],
  [TIMED_OUT]: ['unavailable'],
};

/** Errors of libraries that have no code. The texts are exact and never translated; a spec finds each in the installed library. */
export const LIBRARY_ERRORS: Readonly<Record<string, readonly [module: string, code: string]>> = {
  'Connection terminated unexpectedly': ['pg/lib/client.js', CONNECTION_LOST],
  'Client has encountered a connection error and is not queryable': ['pg/lib/client.js', CONNECTION_LOST],
  'Client was closed and is not queryable': ['pg/lib/client.js', CONNECTION_LOST],
  'Connection terminated': ['pg/lib/client.js', NOT_CONNECTED],
  'timeout expired': ['pg/lib/client.js', TIMED_OUT],
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

/** Returns the traits of a code, or of the class of a SQLSTATE. */
export function traitsOf(code: string): readonly Trait[] {
  const found = Object.hasOwn(ERROR_TABLE, code) ? ERROR_TABLE[code] : code.length === 5 ? ERROR_TABLE[code.slice(0, 2)] : undefined;
  return found ?? [];
}
