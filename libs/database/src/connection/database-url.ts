import { isIPv6 } from 'node:net';
import { checkedParameters, type Parameters } from './connection-parameters.js';
import { type Tls, tlsAttempts } from './tls.js';

const DEFAULT_PORT = 5432;
const DEFAULT_HOST = 'localhost';
const DATABASE_URL = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const SERVER = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::([0-9]{0,5}))?$/;
const CONTROL_CHARACTER = /\p{Cc}/u;

export interface Server {
  /** A host name, an IP address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** A parsed libpq connection URL. */
export interface DatabaseTarget {
  readonly servers: readonly [Server, ...Server[]];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** Whether the server must accept writes (`target_session_attrs=read-write`). */
  readonly isReadWrite: boolean;
  /** TLS options in the order in which they are tried. Unix sockets never use TLS. */
  readonly tls: readonly Tls[];
  /** Undefined: no limit. */
  readonly connectTimeoutMs: number | undefined;
  /** Parameters of `pg` with the same name and meaning. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Parses a connection URL like libpq: several servers, Unix sockets, and parameters, which override the other parts of the URL and the
 * environment variables.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws Error whose message begins with "must" or "cannot", and does not repeat the URL
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  const [, credentials = '', authority, path = '', query = ''] = DATABASE_URL.exec(url) ?? [];
  if (CONTROL_CHARACTER.test(url)) throw new Error('must not contain line breaks or other control characters');
  if (authority === undefined) throw new Error('must be a postgres:// URL');
  const all = checkedParameters({
    ...withoutEmpty({ ...credentialsOf(credentials), ...hostsOf(authority), dbname: percentDecode(path) }),
    ...queryParameters(query),
  });
  const { host, port, dbname, user, password, target_session_attrs: attributes = 'any', connect_timeout: timeout, ...others } = all;
  const { application_name, fallback_application_name, options, sslnegotiation = 'postgres' } = others;
  for (const text of Object.values({ ...all, password: '' })) {
    if (CONTROL_CHARACTER.test(text)) throw new Error('must not contain line breaks or other control characters');
  }
  if (attributes !== 'any' && attributes !== 'read-write') throw new Error('must have a target_session_attrs of any or read-write');
  const servers = serversOf(host, port);
  const tls = tlsAttempts(all);
  const isLocal = servers.every(isSocket);
  return {
    servers,
    user: user || undefined,
    password: password || undefined,
    database: dbname || undefined,
    isReadWrite: attributes === 'read-write',
    tls: isLocal ? [false] : tls,
    connectTimeoutMs: milliseconds(timeout),
    parameters: withoutEmpty({
      application_name,
      fallback_application_name,
      options,
      sslnegotiation: isLocal || sslnegotiation === 'postgres' ? '' : sslnegotiation,
    }),
  };
}

/** Returns the host and port of each server, for messages. */
export function formatServers({ servers }: DatabaseTarget): string {
  return servers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}

/** Whether the host is the folder of a Unix socket. */
export function isSocket({ host }: Server): boolean {
  return host.startsWith('/');
}

function withoutEmpty(parameters: Parameters): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value)) as Record<string, string>;
}

function credentialsOf(credentials: string): Parameters {
  const [user = '', ...password] = credentials.split(':');
  return { user: percentDecode(user), password: percentDecode(password.join(':')) };
}

/** Splits the hosts from the ports before decoding, because the folder of a Unix socket may contain an encoded colon. */
function hostsOf(authority: string): Parameters {
  const servers = authority.split(',').map((text) => {
    const [, ipv6, name, port = ''] = SERVER.exec(text) ?? [];
    const host = ipv6 ?? name;
    if (host === undefined) throw new Error('must have hosts such as db1.example:5432,db2.example:5432');
    return { host, port };
  });
  return { host: percentDecode(servers.map(({ host }) => host).join()), port: servers.map(({ port }) => port).join() };
}

/** Of several parameters with the same name, libpq uses the last one. */
function queryParameters(query: string): Parameters {
  const pairs = query.split('&').filter((pair) => pair !== '');
  const parameters = pairs.map((pair) => {
    // Unlike in libpq, = within a value need not be encoded.
    const [name = '', ...values] = pair.split('=').map(percentDecode);
    if (values.length === 0) throw new Error('must have parameters such as name=value');
    const value = values.join('=');
    // The only exception of libpq, for JDBC.
    return name === 'ssl' && value === 'true' ? ['sslmode', 'require'] : [name, value];
  });
  return Object.fromEntries(parameters) as Parameters;
}

function serversOf(hosts = '', ports = ''): readonly [Server, ...Server[]] {
  const names = hosts.split(',');
  const given = ports.split(',');
  if (given.length > 1 && given.length !== names.length) throw new Error('must have one port, or one port per host');
  return names.map((name, index) => {
    const text = given.length === 1 ? given[0] : given[index];
    const port = text ? Number(text) : DEFAULT_PORT;
    if (!(port >= 1 && port <= 65_535)) throw new Error('must have ports from 1 to 65535');
    const host = name || DEFAULT_HOST;
    if (!isSocket({ host, port }) && /[:\s]/.test(host) && !isIPv6(host))
      throw new Error('must have a host without a port and without spaces; use the parameter port');
    return { host, port };
  }) as unknown as readonly [Server, ...Server[]];
}

/** Like libpq: in seconds; 0 or less is no limit. */
function milliseconds(seconds = '0'): number | undefined {
  if (!/^-?[0-9]{1,7}$/.test(seconds)) throw new Error('must have a connect_timeout in whole seconds');
  return Number(seconds) > 0 ? Number(seconds) * 1_000 : undefined;
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
