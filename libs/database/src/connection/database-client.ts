import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { CorrectedClient } from './corrected-client.js';
import { connectError, mayRecover } from './error-meaning.js';
import { type DatabaseTarget, isSocket, parseDatabaseUrl, type Server } from './database-url.js';
import { CANNOT_CONNECT, NOT_CONNECTED, TIMED_OUT } from './error-table.js';
import { type ClientInternals, isReadyForQuery, setServer } from './pg-internals.js';
import { readSecretUrl, type SecretUrl } from './secret-url.js';
import { checkSession, prepareSession, STARTUP_SETTINGS } from './session-settings.js';
import type { Execution } from './statement.js';
import type { Tls } from './tls.js';
import { exactTypes } from './value-types.js';

/** read_only_sql_transaction */
export const READ_ONLY = '25006';
/** Firewalls forget connections that are idle for minutes. */
const KEEP_ALIVE_MS = 10_000;
/** Share of the connect timeout for one attempt, so that time remains for another one. */
const PROBE_SHARE = 0.5;

export interface DatabaseClientConfig extends Omit<
  ClientConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'
> {
  readonly url: SecretUrl;
  /** Maximum time in ms without data from the server during a query. Unlike in `pg`, the connection is then closed. */
  readonly query_timeout?: number | undefined;
}

interface Attempt extends Server {
  readonly ssl: Tls;
}

type Callback = (error: Error) => void;

/** The server's report of a setting. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

const BaseClient = CorrectedClient as unknown as new (
  config: ClientConfig,
) => Client & ClientInternals & { corrections: string | undefined };

/**
 * A `pg` client that connects like libpq: it supports several servers, `sslmode` and `target_session_attrs`. It reads the URL in its
 * constructor, so each new connection uses the current password. Settings of the role, the database and the server do not change what its
 * statements mean. TCP keep-alive detects a lost server.
 */
export class DatabaseClient extends BaseClient {
  private readonly config: ClientConfig;
  private readonly queryTimeoutMs: number;
  private readonly statementTimeoutMs: number;
  private readonly target: DatabaseTarget | undefined;
  private readonly urlError: unknown;
  private serverVersion = '';

  constructor({ url, ...options }: DatabaseClientConfig) {
    let target: DatabaseTarget | undefined;
    let urlError: unknown;
    try {
      target = parseDatabaseUrl(readSecretUrl(url));
    } catch (error) {
      // A pool expects connect() to fail, not the constructor.
      const { message, cause } = error as Error;
      // The content of a file may be correct later. That of a variable was checked at the start.
      const isTemporary = typeof url !== 'string' || mayRecover(cause);
      const code = isTemporary ? NOT_CONNECTED : CANNOT_CONNECT;
      urlError = Object.assign(new Error(`the connection URL ${message}`, { cause: error }), { code });
    }
    const { user, password, database, parameters, connectTimeoutMs } = target ?? {};
    const config = {
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      // Otherwise, `pg` reads PGSSLNEGOTIATION.
      sslnegotiation: 'postgres',
      types: exactTypes,
      ...options,
      ...parameters,
      connectionTimeoutMillis: shorter(options.connectionTimeoutMillis, connectTimeoutMs),
      user,
      password,
      database,
      connectionString: undefined,
    } as ClientConfig;
    const [server] = target?.servers ?? [];
    // `pg` would create a timer per query, which takes a tenth of the time of a short one.
    super({ ...config, query_timeout: undefined, host: server?.host, port: server?.port, ssl: target?.tls[0] ?? false });
    // Errors during a query reject it. Without this listener, an error between queries, or after the login but before the pool adds
    // its listener, would crash the process.
    this.on('error', () => undefined);
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === 'server_version') this.serverVersion = parameterValue;
    });
    this.config = config;
    this.queryTimeoutMs = options.query_timeout ?? 0;
    this.statementTimeoutMs = Number(options.statement_timeout ?? 0);
    this.target = target;
    this.urlError = urlError;
  }

  override connect(): Promise<this>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<this> | void {
    const connected = this.connectToServer();
    if (!callback) return connected;
    connected.then(() => (callback as () => void)(), callback);
  }

  private async connectToServer(): Promise<this> {
    const { target } = this;
    if (!target) throw this.urlError;
    if (target.servers.length > 1 || target.tls.length > 1 || target.isReadWrite) this.useServer(await this.chooseServer(target));
    await super.connect().catch((error: unknown) => {
      throw explain(error);
    });
    this.limitQueryTime();
    try {
      const { processID: processId, serverVersion, statementTimeoutMs } = this;
      this.corrections = checkSession(await this.query(prepareSession({ processId, serverVersion, statementTimeoutMs })));
    } catch (error) {
      // The pool does not close a connection that failed to connect.
      this.connection.stream.destroy();
      throw error;
    }
    return this;
  }

  /** `pg` calls this to log in. */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), ...STARTUP_SETTINGS };
  }

  private limitQueryTime(): void {
    const stream = this.connection.stream as Socket;
    // A timeout of 0 is none.
    stream.setTimeout(this.queryTimeoutMs).on('timeout', () => {
      // Also a client that is ending must not wait for a server that does not respond.
      if (!isReadyForQuery(this) || stream.writableEnded) stream.destroy(timeout('Query read timeout'));
    });
  }

  private useServer(server: Attempt): void {
    // The pool's connect timeout has passed in the meantime.
    if (this.connection.stream.destroyed) throw timeout('timeout exceeded when trying to connect');
    setServer(this, server);
  }

  /** Probes all servers concurrently. Returns the first suitable one in the URL's order, or for read-write the first to respond. */
  private async chooseServer({ servers, tls, isReadWrite }: DatabaseTarget): Promise<Attempt> {
    const probes = servers.map((server) => this.probe(server, tls, isReadWrite));
    if (isReadWrite) return Promise.any(probes).catch((error: unknown) => failAll(servers, (error as AggregateError).errors));
    const errors: unknown[] = [];
    for (const outcome of probes.map((probe) => Promise.allSettled([probe]))) {
      const [result] = await outcome;
      if (result.status === 'fulfilled') return result.value;
      errors.push(result.reason);
    }
    return failAll(servers, errors);
  }

  /** Tries the TLS options in order and returns the first one that works. */
  private async probe(server: Server, tls: readonly Tls[], isReadWrite: boolean): Promise<Attempt> {
    const { connectionTimeoutMillis = 0 } = this.config;
    let failure: unknown;
    for (const ssl of isSocket(server) ? [false as const] : tls) {
      const client = new Client({ ...this.config, ...server, ssl, connectionTimeoutMillis: connectionTimeoutMillis * PROBE_SHARE });
      client.on('error', () => undefined);
      try {
        await client.connect();
        if (isReadWrite && (await isReadOnly(client))) throw Object.assign(new Error('the server is read-only'), { code: READ_ONLY });
        return { ...server, ssl };
      } catch (error) {
        failure = explain(error);
      } finally {
        void client.end().catch(() => undefined);
      }
    }
    throw failure;
  }
}

/** Removes the names of statements. PgBouncer before 1.21 in transaction mode loses named statements when it switches connections. */
export class UnnamedStatementsClient extends DatabaseClient {
  /** Returns what `pg` returns. `never` is compatible with all its overloads. */
  override query(statement: unknown, ...rest: unknown[]): never {
    return (super.query as (...args: unknown[]) => never).call(this, withoutName(statement), ...rest);
  }
}

function withoutName(statement: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || !('name' in statement)) return statement;
  return 'copy' in statement ? (statement as Execution<unknown>).copy('') : { ...statement, name: undefined };
}

/** Returns the shorter timeout. 0 and undefined are none. */
function shorter(one = 0, other = 0): number {
  return one && other ? Math.min(one, other) : one || other;
}

async function isReadOnly(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('SHOW transaction_read_only');
  return rows[0]?.transaction_read_only === 'on';
}

function failAll(servers: readonly Server[], errors: readonly unknown[]): never {
  if (errors.length === 1) throw errors[0];
  const reasons = errors.map((error, index) => `${servers[index]?.host}:${servers[index]?.port}: ${reasonOf(error)}`);
  throw Object.assign(new AggregateError(errors, reasons.join('; ')), { code: CANNOT_CONNECT });
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || (code ?? 'no reason given');
}

/** Error codes of OpenSSL and Node.js for TLS and certificates. `pg` errors about TLS have no code. */
const TLS_CODE = /^(?:ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO)/;

function timeout(message: string): Error {
  return Object.assign(new Error(message), { code: TIMED_OUT });
}

function explain(error: unknown): unknown {
  const { message, code } = error as NodeJS.ErrnoException;
  if (message === 'The server does not support SSL connections') {
    return Object.assign(new Error('the server does not support TLS, which sslmode requires', { cause: error }), { code: CANNOT_CONNECT });
  }
  if (!TLS_CODE.test(code ?? '')) return connectError(error);
  return Object.assign(new Error(`TLS with the server failed: ${message}`, { cause: error }), { code: CANNOT_CONNECT });
}
