import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { readSecretUrl, type SecretUrl } from './secret-url.js';

const DATABASE_URL = /^postgres(?:ql)?:\/\/[^/?#]*(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const CONTROL_CHARACTER = /\p{Cc}/u;
const MAX_PORT = 65_535;

/** Ignoring any other parameter could make a connection less strict. */
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'application_name', 'fallback_application_name', 'options', 'connect_timeout'],
  ...['sslmode', 'sslnegotiation', 'sslrootcert', 'sslcert', 'sslkey'],
];
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** libpq's variables that `pg` does not read, or reads in another way. */
const VARIABLES = {
  PGCONNECT_TIMEOUT: 'connect_timeout',
  PGSSLMODE: 'sslmode',
  PGSSLNEGOTIATION: 'sslnegotiation',
  PGSSLROOTCERT: 'sslrootcert',
  PGSSLCERT: 'sslcert',
  PGSSLKEY: 'sslkey',
};
/** libpq's variables that would make a connection stricter, or lead to another server. */
const UNSUPPORTED_VARIABLES = [
  ...['PGHOSTADDR', 'PGSERVICE', 'PGTARGETSESSIONATTRS', 'PGREQUIREAUTH', 'PGREQUIREPEER', 'PGCHANNELBINDING', 'PGGSSENCMODE'],
  ...['PGSSLCERTMODE', 'PGSSLCRL', 'PGSSLCRLDIR', 'PGSSLMINPROTOCOLVERSION', 'PGSSLMAXPROTOCOLVERSION', 'PGREQUIRESSL'],
];

/** What a connection URL says, in the options of `pg`. */
export interface DatabaseTarget extends Pick<
  ClientConfig,
  'user' | 'password' | 'database' | 'ssl' | 'sslnegotiation' | 'application_name' | 'fallback_application_name' | 'options'
> {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** Undefined: no limit. */
  readonly connectTimeoutMs: number | undefined;
}

/**
 * Parses a libpq connection URL, with the defaults of libpq's environment variables.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws Error whose message begins with "must" or "cannot", and does not repeat the URL
 */
export function parseDatabaseUrl(text: string, env: NodeJS.ProcessEnv = process.env): DatabaseTarget {
  const url = checkedUrl(text);
  const [, path = '', query = ''] = DATABASE_URL.exec(url) ?? [];
  // libpq does not read a plus sign as a space.
  const parameters = new URLSearchParams(query.replaceAll('+', '%2B'));
  for (const name of UNSUPPORTED_VARIABLES)
    if (env[name]) throw new Error(`cannot be used with the environment variable ${name}, which is not supported`);
  for (const [variable, name] of Object.entries(VARIABLES)) {
    const value = env[variable];
    if (value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  checkParameters(Object.fromEntries(parameters));
  const { host, port, user, password, ssl, sslnegotiation, connect_timeout: timeout, ...others } = parsed(url, query, parameters);
  const [name, number] = [host || env['PGHOST'] || 'localhost', Number(port || env['PGPORT'] || 5432)];
  if (name.includes(',')) throw new Error('must have one host, which leads to the primary, and no list of hosts');
  if (!(number >= 1 && number <= MAX_PORT)) throw new Error(`must have a port from 1 to ${String(MAX_PORT)}`);
  const isSocket = name.startsWith('/');
  return {
    host: name,
    port: number,
    user: user || undefined,
    password: password || undefined,
    database: percentDecode(path) || undefined,
    // Unix sockets never use TLS.
    ssl: !isSocket && ((ssl as DatabaseTarget['ssl']) ?? false),
    sslnegotiation: (!isSocket && sslnegotiation) || 'postgres',
    application_name: others.application_name,
    fallback_application_name: others.fallback_application_name,
    options: others.options,
    connectTimeoutMs: Number(timeout) > 0 ? Number(timeout) * 1_000 : undefined,
  };
}

/** Returns the host and port, for messages. Never throws, because a file may be missing in the meantime. */
export function formatServer(url: SecretUrl): string {
  try {
    const { host, port } = parseDatabaseUrl(readSecretUrl(url));
    return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  } catch {
    return typeof url === 'string' ? 'the URL' : `the URL in ${url.file}`;
  }
}

/** Decodes a part of a URL. @throws Error whose message begins with "must" */
export function percentDecode(text: string): string {
  if (text.includes('%00')) throw new Error('must not contain %00');
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must be percent-encoded; write % as %25');
  }
}

/**
 * Reads the certificates of a file that a URL names. An empty text would mean that any public CA is trusted.
 * @throws Error whose message begins with "cannot", and names the file
 */
export function readCertificates(parameter: string, file: string): string {
  const text = readNonEmpty(parameter, file);
  try {
    new X509Certificate(text);
  } catch {
    throw new Error(`cannot be used: ${parameter}: ${file} contains no certificate`);
  }
  return text;
}

function readNonEmpty(parameter: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot be used: ${parameter}: ${(error as Error).message}`, { cause: error });
  }
  if (text.trim() === '') throw new Error(`cannot be used: ${parameter}: ${file} is empty`);
  return text;
}

/** Rejects what `pg-connection-string` would read in another way than libpq. */
function checkedUrl(text: string): string {
  if (CONTROL_CHARACTER.test(text) || CONTROL_CHARACTER.test(percentDecode(text)))
    throw new Error('must not contain line breaks or other control characters');
  if (/[\s#]/.test(text)) throw new Error('must be percent-encoded; write a space as %20 and # as %23');
  if (!DATABASE_URL.test(text)) throw new Error('must be a postgres:// URL');
  return text;
}

function checkParameters(parameters: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(parameters))
    if (!PARAMETERS.includes(name)) throw new Error(`must not have ${nameOfParameter(name)}: only ${PARAMETERS.join(', ')} are supported`);
  const { sslmode = 'disable', sslnegotiation = 'postgres', sslrootcert, sslcert, sslkey, port, connect_timeout: timeout } = parameters;
  if (!SSL_MODES.includes(sslmode)) throw new Error(`must have an sslmode of ${SSL_MODES.join(', ')}`);
  if (sslmode === 'disable' && (sslrootcert || sslcert || sslkey || sslnegotiation !== 'postgres'))
    throw new Error('must have an sslmode such as verify-full with other parameters of TLS');
  if (!['postgres', 'direct'].includes(sslnegotiation)) throw new Error('must have an sslnegotiation of postgres or direct');
  if (sslmode === 'verify-ca' && !sslrootcert) throw new Error('must have an sslrootcert with sslmode=verify-ca');
  if (timeout !== undefined && !/^-?[0-9]{1,7}$/.test(timeout)) throw new Error('must have a connect_timeout in whole seconds');
  if (port && !/^[0-9]+$/.test(port)) throw new Error(`must have a port from 1 to ${String(MAX_PORT)}`);
  // Without a file, any public CA would be trusted.
  if (sslrootcert !== undefined) readCertificates('sslrootcert', sslrootcert);
  if (sslcert !== undefined) readCertificates('sslcert', sslcert);
  if (sslkey !== undefined) readNonEmpty('sslkey', sslkey);
}

/** Returns the name of a parameter for messages. Other text may be a part of a password that is not percent-encoded. */
export function nameOfParameter(text: string): string {
  return /^[a-z_]{1,40}$/i.test(text) ? `the parameter ${text}` : 'a parameter';
}

function parsed(url: string, query: string, parameters: URLSearchParams) {
  try {
    const withoutQuery = query === '' ? url.replace('?', '') : url.slice(0, -query.length - 1);
    return parse(`${withoutQuery}?${parameters.toString().replaceAll('+', '%20')}`, { useLibpqCompat: true });
  } catch {
    throw new Error('must be a postgres:// URL');
  }
}
