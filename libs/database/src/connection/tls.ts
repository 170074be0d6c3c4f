import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';

/** Options for `tls.connect`; false for a connection without TLS. */
export type Tls =
  | false
  | Pick<
      ConnectionOptions,
      'ca' | 'cert' | 'checkServerIdentity' | 'key' | 'maxVersion' | 'minVersion' | 'passphrase' | 'rejectUnauthorized'
    >;

export interface TlsParameters {
  readonly sslmode?: string | undefined;
  /** A file with CA certificates, or `system`. */
  readonly sslrootcert?: string | undefined;
  readonly sslcert?: string | undefined;
  readonly sslkey?: string | undefined;
  /** The password of `sslkey`. */
  readonly sslpassword?: string | undefined;
  /** `direct` starts TLS without asking the server, so it requires TLS. */
  readonly sslnegotiation?: string | undefined;
  readonly minVersion?: string | undefined;
  readonly maxVersion?: string | undefined;
}

const VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
const REQUIRING_MODES = ['require', 'verify-ca', 'verify-full'];

/**
 * Returns the TLS options that libpq tries for this `sslmode`, in order.
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION
 * @throws Error whose message begins with "must" or "cannot"
 */
export function tlsAttempts({
  sslmode: mode,
  sslnegotiation = 'postgres',
  minVersion,
  maxVersion,
  ...files
}: TlsParameters): readonly Tls[] {
  const { sslrootcert, sslpassword } = files;
  const sslmode = mode ?? (sslrootcert === 'system' ? 'verify-full' : undefined);
  // libpq prefers TLS without sslmode, this library does not use it. So these parameters would be ignored.
  if (sslmode === undefined && [...Object.values(files), minVersion, maxVersion].some((value) => value !== undefined))
    throw new Error('must have an sslmode such as verify-full with other parameters of TLS');
  if (!['postgres', 'direct'].includes(sslnegotiation)) throw new Error('must have an sslnegotiation of postgres or direct');
  if (sslnegotiation === 'direct' && !REQUIRING_MODES.includes(sslmode ?? ''))
    throw new Error(`must have an sslmode of ${REQUIRING_MODES.join(', ')} with sslnegotiation=direct`);
  if (sslrootcert === 'system' && sslmode !== 'verify-full') throw new Error('must have sslmode=verify-full with sslrootcert=system');
  const verified = {
    ...version('ssl_min_protocol_version', 'minVersion', minVersion),
    ...version('ssl_max_protocol_version', 'maxVersion', maxVersion),
    ...(sslrootcert !== undefined && { ca: sslrootcert === 'system' ? getCACertificates('system') : read('sslrootcert', sslrootcert) }),
    ...(files.sslcert !== undefined && { cert: read('sslcert', files.sslcert) }),
    ...(files.sslkey !== undefined && { key: read('sslkey', files.sslkey) }),
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
