import { setDefaultAutoSelectFamilyAttemptTimeout, type Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { type DatabaseTarget, parseDatabaseUrl, readSecret, type SecretUrl } from './database-url.js';
import { CANNOT_CONNECT, CONNECTION_LOST, isDatabaseUnavailable, TIMED_OUT } from './error-meaning.js';
import { type ClientInternals, GuardedConnection } from './pg-internals.js';
import { checkSession, type SessionOptions, startupSettings } from './session-settings.js';
import { exactTypes } from './value-types.js';

/** Default maximum time to wait for responses outside the pool. */
export const RESPONSE_MS = 5_000;
/** Returns the default maximum time to connect: libpq's, if it is set. A timer of more ms than an int32 would end at once. */
export const connectMs = () => Math.min(Math.max(Number(process.env['PGCONNECT_TIMEOUT']) * 1_000, 0) || RESPONSE_MS, 2_147_483_647);
/** PostgreSQL's `scram_iterations` has no upper limit. This many take about two seconds. */
const MAX_SCRAM_ITERATIONS = 4_000_000;
/** The texts of `pg` for an authentication method that it does not support. */
const UNSUPPORTED_METHOD = /^(?:Unknown authenticationOk message type|SASL: Only)\b/;

/** For each address of a host name but the last. After the 250 ms of Node.js, a distant or busy server may not have accepted the connection. */
setDefaultAutoSelectFamilyAttemptTimeout(1_500);

export interface DatabaseClientConfig extends SessionOptions {
  readonly url: SecretUrl;
  /** A name in the URL or in PGAPPNAME takes precedence. */
  readonly application_name?: string | undefined;
  /** Maximum time to connect, in ms. A shorter `connect_timeout` of the URL takes precedence. */
  readonly connectionTimeoutMillis?: number | undefined;
  /** Maximum time in ms without data from the server during a query, and half of the maximum for all data. The connection is then closed. */
  readonly query_timeout?: number | undefined;
}

const BaseClient = Client as unknown as new (config: ClientConfig) => Client & ClientInternals;

/** A `pg` client whose session does not depend on the role, the database or the server. Each one reads the URL again. */
export class DatabaseClient extends BaseClient {
  private readonly urlError: Error | undefined;

  constructor(private readonly config: DatabaseClientConfig) {
    const { url, application_name, connectionTimeoutMillis = connectMs() } = config;
    let target: Partial<DatabaseTarget> = {};
    let urlError: Error | undefined;
    try {
      target = parseDatabaseUrl(readSecret(url));
    } catch (error) {
      // A pool expects connect() to fail, not the constructor.
      urlError = new Error(`the connection URL ${(error as Error).message}`, { cause: error });
    }
    super({
      ...{ fallback_application_name: application_name, ...target, types: exactTypes, scramMaxIterations: MAX_SCRAM_ITERATIONS },
      connectionTimeoutMillis: Math.min(connectionTimeoutMillis, target.connectTimeoutMs ?? Infinity),
      // Firewalls forget connections that are idle for minutes.
      connection: new GuardedConnection({ keepAlive: true, keepAliveInitialDelayMillis: 10_000, ssl: target.ssl }),
    } as ClientConfig);
    // Errors during a query reject it. Without this listener, an error between queries, or after the login but before the pool adds
    // its listener, would crash the process.
    this.on('error', () => undefined);
    this.urlError = urlError;
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | void {
    const connected = this.connectToServer();
    if (!callback) return connected;
    connected.then(() => (callback as () => void)(), callback);
  }

  private async connectToServer(): Promise<this> {
    try {
      if (this.urlError !== undefined) throw this.urlError;
      await super.connect();
      // For example, `pg` cannot handle a message of the login after the login.
      this.connection.prependListener('error', (error: { code?: string }) => (error.code ??= CONNECTION_LOST));
      this.limitQueryTime();
      await checkSession(this, this.processID, this.config);
      return this;
    } catch (error) {
      // Otherwise, a login that this client refuses would take a connection of the server until it times out.
      this.connection.stream.destroy();
      const { message } = error as Error;
      const isUnsupported = UNSUPPORTED_METHOD.test(message);
      if (isDatabaseUnavailable(error) && !isUnsupported) throw error;
      const reason = isUnsupported ? `the server requires an authentication method that is not supported: ${message}` : message;
      // Whatever prevents a connection makes the database unavailable. For example, 22023 is a bug in a statement, but not during a login.
      throw Object.assign(new Error(reason, { cause: error }), { code: CANNOT_CONNECT });
    }
  }

  /** `pg` calls this to log in. */
  override getStartupConf(): Record<string, string> {
    return { ...super.getStartupConf(), ...startupSettings(this.config) };
  }

  private limitQueryTime(): void {
    const { query_timeout: timeoutMs = 0 } = this.config;
    const stream = this.connection.stream as Socket;
    const giveUp = () => stream.destroy(Object.assign(new Error('Query read timeout'), { code: TIMED_OUT }));
    // A timeout of 0 is none. `pg` would create a timer per query, which takes a tenth of the time of a short one.
    stream.setTimeout(timeoutMs).on('timeout', () => {
      // Also a client that is ending must not wait for a server that does not respond.
      if (!this.readyForQuery || stream.writableEnded) giveUp();
    });
    if (timeoutMs === 0) return;
    // Ends a query whose response keeps arriving, and never ends, within two timeouts.
    let before: unknown;
    const timer = setInterval(() => {
      const current = stream.writableEnded ? stream : this._activeQuery;
      if (current && current === before) giveUp();
      before = current;
    }, timeoutMs).unref();
    stream.once('close', () => clearInterval(timer));
  }
}

/** Runs `work` with a connection outside the pool, for example for a lock. Closes it afterwards, which releases the lock. */
export async function withOwnConnection<T>(
  { url, connectTimeoutMs }: { readonly url: SecretUrl; readonly connectTimeoutMs?: number | undefined },
  name: string,
  work: (client: DatabaseClient) => Promise<T>,
): Promise<T> {
  const timeouts = { connectionTimeoutMillis: connectTimeoutMs, query_timeout: connectTimeoutMs ?? RESPONSE_MS };
  const client = new DatabaseClient({ url, application_name: name, ...timeouts });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
