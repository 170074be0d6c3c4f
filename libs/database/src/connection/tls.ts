import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import type { Parameters } from './connection-parameters.js';

/** Options for `tls.connect`; false for a connection without TLS. */
export type Tls =
  | false
  | Pick<
      ConnectionOptions,
      'ca' | 'cert' | 'checkServerIdentity' | 'key' | 'maxVersion' | 'minVersion' | 'passphrase' | 'rejectUnauthorized'
    >;

const VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
const REQUIRING_MODES = ['require', 'verify-ca', 'verify-full'];

/**
 * Returns the TLS options that libpq tries for this `sslmode`, in order. `sslrootcert` is a file with CA certificates, or `system`.
 * `sslnegotiation=direct` starts TLS without asking the server, so it requires TLS.
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION
 * @throws Error whose message begins with "must" or "cannot"
 */
export function tlsAttempts({ sslmode: mode, sslnegotiation = 'postgres', ...others }: Parameters): readonly Tls[] {
  const { sslrootcert, sslcert, sslkey, sslpassword, ssl_min_protocol_version: minVersion, ssl_max_protocol_version: maxVersion } = others;
  const sslmode = mode ?? (sslrootcert === 'system' ? 'verify-full' : undefined);
  // libpq prefers TLS without sslmode, this library does not use it. So these parameters would be ignored.
  if (sslmode === undefined && [sslrootcert, sslcert, sslkey, sslpassword, minVersion, maxVersion].some((value) => value !== undefined))
    throw new Error('must have an sslmode such as verify-full with other parameters of TLS');
  if (!['postgres', 'direct'].includes(sslnegotiation)) throw new Error('must have an sslnegotiation of postgres or direct');
  if (sslnegotiation === 'direct' && !REQUIRING_MODES.includes(sslmode ?? ''))
    throw new Error(`must have an sslmode of ${REQUIRING_MODES.join(', ')} with sslnegotiation=direct`);
  if (sslrootcert === 'system' && sslmode !== 'verify-full') throw new Error('must have sslmode=verify-full with sslrootcert=system');
  const verified = {
    ...version('ssl_min_protocol_version', 'minVersion', minVersion),
    ...version('ssl_max_protocol_version', 'maxVersion', maxVersion),
    ...(sslrootcert !== undefined && { ca: sslrootcert === 'system' ? getCACertificates('system') : read('sslrootcert', sslrootcert) }),
    ...(sslcert !== undefined && { cert: read('sslcert', sslcert) }),
    ...(sslkey !== undefined && { key: read('sslkey', sslkey) }),
    ...(sslpassword !== undefined && { passphrase: sslpassword }),
  };
  const unverified = { ...verified, rejectUnauthorized: false };
  const verifiedByCa = { ...verified, checkServerIdentity: () => undefined };
  switch (sslmode) {
    case undefined:
    case 'disable':
      return [false];
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'require':
      return [sslrootcert === undefined ? unverified : verifiedByCa];
    case 'verify-ca':
      if (sslrootcert === undefined) throw new Error('must have an sslrootcert with sslmode=verify-ca');
      return [verifiedByCa];
    case 'verify-full':
      return [verified];
    default:
      throw new Error('must have an sslmode of disable, allow, prefer, require, verify-ca or verify-full');
  }
}

function version(parameter: string, option: 'minVersion' | 'maxVersion', value: string | undefined): Tls & object {
  if (value === undefined || value === '') return {};
  if (!VERSIONS.includes(value)) throw new Error(`must have an ${parameter} of ${VERSIONS.join(', ')}`);
  return { [option]: value };
}

function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot be used: ${parameter}: ${(error as Error).message}`, { cause: error });
  }
}
