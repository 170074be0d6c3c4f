import { DatabaseError } from 'pg';

/**
 * What an error means:
 * - `unavailable`: the database cannot serve now. Requests get a 503, and connecting is retried at the start.
 * - `repeatable`: a read may be repeated at once, on another connection.
 * - `conflict`: the statement was rolled back because of a concurrent one, so also a write may be repeated.
 * - `row`: a single row may have caused it. The statement had no effect.
 * - `usable`: the session can execute other statements.
 * - `mistake`: a migration that repeats the statement fails again, although elsewhere the error can pass by itself.
 */
type Trait = 'unavailable' | 'repeatable' | 'conflict' | 'row' | 'usable' | 'mistake';

/** Whether the error means that the database is unreachable or unavailable, rather than that the statement is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (hasTrait(error, 'unavailable')) return true;
  const { driverError, errors, path, syscall } = error as Details;
  // A system call of a socket, unlike one of a file.
  if (syscall !== undefined && path === undefined && !LISTENING.includes(syscall)) return true;
  if (Array.isArray(errors)) return errors.some(isDatabaseUnavailable);
  return isDatabaseUnavailable(driverError ?? error.cause);
}

/** Whether the code of the error, or its class of SQLSTATEs, has the trait. */
export function hasTrait(error: unknown, trait: Trait): boolean {
  const source = (error as Details | undefined)?.driverError ?? error;
  // A RAISE may have any code.
  if ((trait === 'row' || trait === 'usable') && ROUTINES_OF_ROWS.includes((source as Details | undefined)?.routine)) return true;
  const code = codeOf(source) ?? '';
  const traits = TRAITS.get(code) ?? TRAITS.get(code.length === 5 ? code.slice(0, 2) : '');
  return traits?.includes(trait) ?? false;
}

/** Whether a statement of a migration is wrong, so that its repetition fails again. */
export function isMistake(error: unknown): boolean {
  return hasTrait(error, 'mistake') || !isDatabaseUnavailable(error);
}

/** Whether the value of one call, or one stored row that cannot be read, may have caused the error of a read. */
export function isReadItemError(error: unknown): boolean {
  return hasTrait(error, 'row') || ((error as Details).code === undefined && !isDatabaseUnavailable(error));
}

/** Whether the session does not have the prepared statement, or has a plan that no longer fits its tables. The statement had no effect. */
export function isStatementLost(error: unknown): boolean {
  return [LOST_STATEMENT, '42P05'].includes(codeOf(error) ?? '');
}

/** Whether the statement failed, but its session can execute others. */
export function isSessionUsable(error: unknown): boolean {
  return error instanceof DatabaseError && error.code !== undefined && hasTrait(error, 'usable');
}

function codeOf(error: unknown): string | undefined {
  if (!Error.isError(error)) return undefined;
  const { code, routine } = error as Details;
  if (routine === REVALIDATE || LOST_STATEMENTS.includes(error.message)) return LOST_STATEMENT;
  if (typeof code === 'string') return code;
  // PostgreSQL's errors have a code. This one may come from another server, or is a message that `pg` does not know.
  return error instanceof DatabaseError ? CONNECTION_LOST : LIBRARY_ERRORS.get(error.message);
}

/** The properties of errors of the database, the system and TypeORM, which wraps errors of `pg`. */
interface Details {
  readonly code?: unknown;
  readonly driverError?: unknown;
  readonly errors?: unknown;
  readonly path?: unknown;
  readonly routine?: unknown;
  readonly syscall?: string;
}

/** sqlclient_unable_to_establish_sqlconnection: our code for every failure to connect that has none. */
export const CANNOT_CONNECT = '08001';
/** connection_does_not_exist: our code if a pool or a query runner has no connection. */
const NOT_CONNECTED = '08003';
/** connection_failure: our code if the connection was lost. */
export const CONNECTION_LOST = '08006';
const LOST_STATEMENT = '26000';
export const TIMED_OUT = 'ETIMEDOUT';

/** Codes, or classes of SQLSTATEs. Of what is missing, each is a bug. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const ERROR_TABLE: readonly (readonly [codes: readonly string[], ...traits: Trait[]])[] = [
  // Connection exception (PgBouncer reports most of its errors as 08P01), a rejected login, a database that does not exist.
  [['08', '28', '3D'], 'unavailable'],
  // Cardinality violation, syntax error or access rule violation.
  [['21', '42'], 'usable'],
  // CASE without a match, data exception, integrity constraint violation, error in a function, WITH CHECK OPTION violation, program limit
  // exceeded, PL/pgSQL error (RAISE).
  [['20', '22', '23', '2F', '38', '39', '44', '54', 'P0'], 'row', 'usable'],
  // read_only_sql_transaction of a server that an operator made read-only, transaction_timeout.
  [['25006', '25P04'], 'unavailable'],
  // idle_in_transaction_session_timeout; insufficient memory, disk or connections.
  [['25P03', '53'], 'unavailable', 'repeatable'],
  // A prepared statement is missing or already exists. `PreparedStatement` has repeated it.
  [[LOST_STATEMENT, '42P05'], 'unavailable', 'usable', 'mistake'],
  // A schema, privilege, column, type, function, table or index is missing or differs: a restore, a migration or a GRANT is not finished.
  [['3F', '42501', '42703', '42804', '42883', '42P01', '42P10'], 'unavailable', 'usable', 'mistake'],
  // Transaction rollback: serialization failure, deadlock. After 40003, the transaction may be committed.
  [['40'], 'unavailable', 'repeatable', 'conflict', 'usable'],
  [['40003'], 'unavailable'],
  // Object not in prerequisite state, object in use.
  [['55'], 'unavailable', 'mistake'],
  // lock_not_available and query_canceled, also of timeouts. They end the statement, and not its session.
  [['55P03', '57014'], 'unavailable', 'usable'],
  // Operator intervention; system error of the server, for example an I/O error.
  [['57', '58'], 'unavailable'],
  // admin_shutdown, crash_shutdown, idle_session_timeout.
  [['57P01', '57P02', '57P05'], 'unavailable', 'repeatable'],
  // Snapshot too old, before PostgreSQL 17.
  [['72'], 'unavailable', 'repeatable', 'usable'],
  // internal_error: an object was dropped or changed while the statement was planned, such as "could not open relation with OID".
  [['XX000'], 'repeatable', 'conflict'],
  // A lost connection.
  [[CONNECTION_LOST, 'ECONNRESET', 'ECONNABORTED', 'EPIPE'], 'unavailable', 'repeatable'],
  [['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'], 'unavailable', 'repeatable'],
  [['ECONNREFUSED', TIMED_OUT], 'unavailable'],
];
const TRAITS = new Map(ERROR_TABLE.flatMap(([codes, ...traits]) => codes.map((code) => [code, traits] as const)));

/** The codes of errors of `pg`, `pg-pool`, TypeORM and PgBouncer that have none, or a general one, by their exact message. */
export const LIBRARY_ERRORS: ReadonlyMap<string, string> = new Map([
  ['Connection terminated unexpectedly', CONNECTION_LOST],
  ['Client has encountered a connection error and is not queryable', CONNECTION_LOST],
  ['Client was closed and is not queryable', CONNECTION_LOST],
  ['Connection terminated', NOT_CONNECTED],
  ['timeout expired', TIMED_OUT],
  ['Connection terminated due to connection timeout', TIMED_OUT],
  ['timeout exceeded when trying to connect', TIMED_OUT],
  ['Cannot use a pool after calling end on the pool', NOT_CONNECTED],
  ['Driver not Connected', NOT_CONNECTED],
  // TypeORM releases the query runner of a lost connection.
  ['Query runner already released. Cannot run queries anymore.', NOT_CONNECTED],
  [
    'Database connection provided by a query runner was already released, cannot continue to use its querying methods anymore.',
    NOT_CONNECTED,
  ],
]);
/** Errors of PgBouncer that mean that it does not track named statements: src/prepare.c. */
const LOST_STATEMENTS = ['prepared statement did not exist', 'prepared statement name is already in use'];
/** The function of PostgreSQL that throws "cached plan must not change result type", with the code feature_not_supported. */
const REVALIDATE = 'RevalidateCachedQuery';
/** The functions of PostgreSQL that throw the error of a RAISE in PL/pgSQL, and of a row that a policy rejects. */
const ROUTINES_OF_ROWS: readonly unknown[] = ['exec_stmt_raise', 'ExecWithCheckOptions'];
/** System calls about the port of this process, not about the database. */
const LISTENING = ['listen', 'bind'];
