import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

/** A URL with a password, or the file that contains it. If the file contains several URLs, `index` selects one. */
export type SecretUrl = string | { readonly file: string; readonly index?: number };

const SEPARATOR = /\s*,\s*(?=\w+:\/\/|$)/;
/** More than a bundle of all public CAs. */
const MAX_FILE_BYTES = 1_048_576;

const DATABASE_URL = /^(postgres(?:ql)?:\/\/[^/?#]*(?:\/([^/?#]*))?)(?:\?([^#]*))?$/;
const CONTROL_CHARACTER = /\p{Cc}/u;
const MAX_PORT = 65_535;

/** Ignoring any other parameter could make a connection less strict. */
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'application_name', 'fallback_application_name', 'options', 'connect_timeout'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
];
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** Parameters whose variable of libpq, such as PGSSLMODE, `pg` does not read, or reads in another way. */
const WITH_VARIABLE = ['connect_timeout', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];
/** libpq's variables that would make a connection stricter, or lead to another server. */
const UNSUPPORTED_VARIABLES = [
  ...['PGHOSTADDR', 'PGSERVICE', 'PGTARGETSESSIONATTRS', 'PGLOADBALANCEHOSTS', 'PGREQUIREAUTH', 'PGREQUIREPEER', 'PGCHANNELBINDING'],
  ...['PGGSSENCMODE', 'PGREQUIRESSL', 'PGSSLCERTMODE', 'PGSSLCRL', 'PGSSLCRLDIR', 'PGSSLNEGOTIATION', 'PGSSLSNI', 'PGMINPROTOCOLVERSION'],
  ...['PGSSLMINPROTOCOLVERSION', 'PGSSLMAXPROTOCOLVERSION'],
];

/** What a connection URL says, in the options of `pg`. The host can also be the folder of a Unix socket. */
export type DatabaseTarget = ClientConfig & { readonly host: string; readonly port: number; readonly connectTimeoutMs: number };

export function splitUrls(text: string): string[] {
  return text.trim().split(SEPARATOR);
}

/** Trims the URL or another secret. A file is read each time. @throws Error whose message begins with "cannot", and names the file */
export function readSecret(url: SecretUrl): string {
  if (typeof url === 'string') return url.trim();
  const { file, index } = url;
  let text: string;
  try {
    // A pipe would block, and would be empty when it is read again.
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats && (!stats.isFile() || stats.size > MAX_FILE_BYTES))
      throw new Error(`${file} must be a file of at most ${String(MAX_FILE_BYTES)} bytes`);
    // Also removes a byte order mark.
    text = readFileSync(file, 'utf8').trim();
    if (text === '') throw new Error(`${file} is empty`);
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const selected = index === undefined ? text : splitUrls(text)[index];
  if (selected === undefined) throw new Error(`cannot be read: ${file} contains fewer URLs than before`);
  return selected;
}

/**
 * Parses a libpq connection URL, with the defaults of libpq's environment variables.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws Error whose message begins with "must" or "cannot", and does not repeat the URL
 */
export function parseDatabaseUrl(text: string, env: NodeJS.ProcessEnv = process.env): DatabaseTarget {
  const [base, path, query] = partsOf(text);
  const parameters = new URLSearchParams(query);
  for (const name of UNSUPPORTED_VARIABLES)
    if (env[name]) throw new Error(`cannot be used with the environment variable ${name}, which is not supported`);
  for (const name of WITH_VARIABLE) {
    const value = env[`PG${name.toUpperCase()}`];
    if (value !== undefined && !parameters.has(name)) parameters.set(name, value);
  }
  checkParameters(Object.fromEntries(parameters));
  const parsed = parseUrl(`${base}?${parameters.toString()}`);
  const host = parsed.host || env['PGHOST'] || 'localhost';
  const port = Number(parsed.port ?? (env['PGPORT'] || 5432));
  if (host.includes(',')) throw new Error('must have one host, which leads to the primary, and no list of hosts');
  if (!(port >= 1 && port <= MAX_PORT)) throw new Error(`must have a port from 1 to ${String(MAX_PORT)}`);
  const timeoutMs = Number(parameters.get('connect_timeout')) * 1_000;
  // Unix sockets never use TLS.
  const { ssl = false }: ClientConfig = host.startsWith('/') ? {} : parsed;
  return { ...parsed, host, port, database: path, ssl, connectTimeoutMs: timeoutMs > 0 ? timeoutMs : Infinity };
}

/** Returns the host and port, for messages. Never throws, because a file may be missing in the meantime. */
export function formatServer(url: SecretUrl): string {
  try {
    const { host, port } = parseDatabaseUrl(readSecret(url));
    return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
  } catch {
    return typeof url === 'string' ? 'the URL' : `the URL in ${url.file}`;
  }
}

/** Decodes a part of a URL. @throws Error whose message begins with "must" */
function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must be percent-encoded; write % as %25');
  }
}

/** @throws Error whose message begins with "cannot", and names the file, if it contains no certificates */
export function checkCertificates(file: string): void {
  const text = readSecret({ file });
  try {
    new X509Certificate(text);
  } catch {
    throw new Error(`cannot be read: ${file} contains no certificate`);
  }
}

/** Splits a URL, and decodes its path. Rejects what `pg-connection-string` reads in another way than libpq. */
function partsOf(url: string): [base: string, path: string, query: string] {
  if (CONTROL_CHARACTER.test(url) || CONTROL_CHARACTER.test(percentDecode(url)))
    throw new Error('must not contain line breaks or other control characters');
  if (/[\s#]/.test(url)) throw new Error('must be percent-encoded; write a space as %20 and # as %23');
  // libpq does not read a plus sign as a space.
  const [, base, path = '', query = ''] = DATABASE_URL.exec(url.replaceAll('+', '%2B')) ?? [];
  if (base === undefined) throw new Error('must be a postgres:// URL');
  return [base, percentDecode(path), query];
}

function checkParameters(parameters: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(parameters).find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    // Other text may be a part of a password that is not percent-encoded.
    const shown = /^[a-z_]{1,40}$/i.test(unknown) ? `the parameter ${unknown}` : 'a parameter';
    throw new Error(`must not have ${shown}: only ${PARAMETERS.join(', ')} are supported`);
  }
  const { sslmode = 'disable', sslrootcert, sslcert, sslkey, port, connect_timeout: timeout } = parameters;
  if (!SSL_MODES.includes(sslmode)) throw new Error(`must have an sslmode of ${SSL_MODES.join(', ')}`);
  if (sslmode === 'disable' && (sslrootcert || sslcert || sslkey))
    throw new Error('must have an sslmode such as verify-full with other parameters of TLS');
  if (sslmode === 'verify-ca' && !sslrootcert) throw new Error('must have an sslrootcert with sslmode=verify-ca');
  if (timeout !== undefined && !/^-?[0-9]{1,7}$/.test(timeout)) throw new Error('must have a connect_timeout in whole seconds');
  if (port && !/^[0-9]+$/.test(port)) throw new Error(`must have a port from 1 to ${String(MAX_PORT)}`);
  if ([sslrootcert, sslcert, sslkey].includes('')) throw new Error('must not have an empty sslrootcert, sslcert or sslkey');
  // Without certificates, any public CA would be trusted.
  if (sslrootcert !== undefined) checkCertificates(sslrootcert);
  if (sslcert !== undefined) checkCertificates(sslcert);
  if (sslkey !== undefined) readSecret({ file: sslkey });
}

function parseUrl(url: string): ClientConfig {
  try {
    return toClientConfig(parse(url, { useLibpqCompat: true }));
  } catch {
    throw new Error('must be a postgres:// URL');
  }
}
