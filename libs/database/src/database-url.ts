import { type Tls, tlsAttempts } from './tls.js';

const DEFAULT_PORT = 5432;
const DATABASE_URL = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const SERVER = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::([0-9]{0,5}))?$/;

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
  /** TLS options in the order in which they are tried. */
  readonly tls: readonly Tls[];
  /** All other parameters. They are passed to `pg`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Parses a connection URL like libpq: several servers, `sslmode`, `target_session_attrs`.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws Error whose message begins with "must" or "cannot", and does not repeat the URL
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  const [, credentials = '', authority, path = '', query = ''] = DATABASE_URL.exec(url) ?? [];
  if (authority === undefined) throw new Error('must be a postgres:// URL');
  const { host, port, sslmode, sslrootcert, sslcert, sslkey, target_session_attrs: attributes = 'any', ...parameters } = paramsOf(query);
  if (attributes !== 'any' && attributes !== 'read-write') throw new Error('must have a target_session_attrs of any or read-write');
  const [user = '', ...password] = credentials.split(':');
  const { ssl, ...others } = parameters;
  // libpq also accepts JDBC's `ssl=true`. Without sslmode, libpq prefers TLS, but `pg` and this library connect without it.
  const mode = sslmode ?? (ssl === 'true' ? 'require' : process.env['PGSSLMODE']);
  return {
    servers: serversOf(host ?? percentDecode(authority), port),
    user: percentDecode(user) || undefined,
    password: percentDecode(password.join(':')) || undefined,
    database: percentDecode(path) || undefined,
    isReadWrite: attributes === 'read-write',
    tls: tlsAttempts({ sslmode: mode, sslrootcert, sslcert, sslkey }),
    parameters: others,
  };
}

/** Returns the host and port of each server, for messages. */
export function formatServers({ servers }: DatabaseTarget): string {
  return servers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}

function paramsOf(query: string): Partial<Record<string, string>> & Record<string, string> {
  const pairs = query.split('&').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [percentDecode(name), percentDecode(value.join('='))];
    }),
  );
}

function serversOf(hosts: string, ports: string | undefined): readonly [Server, ...Server[]] {
  const given = ports?.split(',') ?? [];
  return hosts.split(',').map((text, index) => {
    // The path of a socket folder may contain a colon.
    const [, ipv6, name, port] = text.startsWith('/') ? [text, undefined, text, undefined] : (SERVER.exec(text) ?? []);
    const host = ipv6 ?? name;
    if (host === undefined) throw new Error('must have hosts such as db1.example:5432,db2.example:5432');
    const number = Number(port || (given[index] ?? given[0]) || process.env['PGPORT'] || DEFAULT_PORT);
    if (!(number >= 1 && number <= 65_535)) throw new Error('must have ports from 1 to 65535');
    return { host: host || process.env['PGHOST'] || 'localhost', port: number };
  }) as unknown as readonly [Server, ...Server[]];
}

/** Decodes a part of a URL. @throws Error whose message begins with "must" */
export function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must be percent-encoded; write % as %25');
  }
}
