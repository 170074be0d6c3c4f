import { nameOfParameter, percentDecode, readCertificates } from '@animal-store/database';

const MODES = ['require', 'verify-ca', 'verify-full'];
const PARAMETERS = ['sslmode', 'sslrootcert'];

/**
 * Parses a redis:// or rediss:// URL. The latter supports `sslmode`, by default `verify-full`, and `sslrootcert` as in PostgreSQL URLs.
 * @throws Error whose message begins with "must" or "cannot", and does not repeat the URL
 */
export function parseRedisUrl(text: string) {
  // `URL` would remove line breaks and tabs.
  if (/\p{Cc}/u.test(text)) throw new Error('must not contain line breaks or other control characters');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['redis:', 'rediss:'].includes(url.protocol)) throw new Error('must be a redis:// or rediss:// URL');
  if (!/^\/?[0-9]{0,9}$/.test(url.pathname) || url.hash !== '') throw new Error('must end with the number of the database, such as /0');
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw new Error(`must not have ${nameOfParameter(unknown)}: only ${PARAMETERS.join(' and ')} are supported`);
  const { sslmode, sslrootcert } = Object.fromEntries(url.searchParams) as Partial<Record<string, string>>;
  const isTls = url.protocol === 'rediss:';
  if (!isTls && (sslmode ?? sslrootcert) !== undefined) throw new Error('must be a rediss:// URL with sslmode or sslrootcert');
  if (sslmode !== undefined && !MODES.includes(sslmode)) throw new Error(`must have an sslmode of ${MODES.join(', ')}`);
  if (sslmode === 'verify-ca' && sslrootcert === undefined) throw new Error('must have an sslrootcert with sslmode=verify-ca');
  const tls = {
    ...(sslrootcert !== undefined && { ca: readCertificates('sslrootcert', sslrootcert) }),
    ...(sslmode === 'require' && sslrootcert === undefined && { rejectUnauthorized: false }),
    ...(sslmode !== undefined && sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
  const [username, password] = [percentDecode(url.username), percentDecode(url.password)];
  if (username !== '' && password === '') throw new Error('must have a password with the user name');
  const [host, port] = [url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || 6379)];
  return {
    socket: isTls ? { host, port, tls: true as const, ...tls } : { host, port },
    database: Number(url.pathname.slice(1)),
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
  };
}
