import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';

/** Options for `tls.connect`; false for a connection without TLS. */
export type Tls = false | Pick<ConnectionOptions, 'ca' | 'cert' | 'checkServerIdentity' | 'key' | 'rejectUnauthorized'>;

export interface TlsParameters {
  readonly sslmode?: string | undefined;
  /** A file with CA certificates, or `system`. */
  readonly sslrootcert?: string | undefined;
  readonly sslcert?: string | undefined;
  readonly sslkey?: string | undefined;
}

/**
 * Returns the TLS options that libpq tries for this `sslmode`, in order.
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION
 * @throws Error whose message begins with "must" or "cannot"
 */
export function tlsAttempts({ sslmode, ...files }: TlsParameters): readonly Tls[] {
  const { sslrootcert } = files;
  if (sslrootcert === 'system' && sslmode !== 'verify-full') throw new Error('must have sslmode=verify-full with sslrootcert=system');
  const verified = {
    ...(sslrootcert !== undefined && { ca: sslrootcert === 'system' ? getCACertificates('system') : read('sslrootcert', sslrootcert) }),
    ...(files.sslcert !== undefined && { cert: read('sslcert', files.sslcert) }),
    ...(files.sslkey !== undefined && { key: read('sslkey', files.sslkey) }),
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

function read(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`cannot be used: ${parameter}: ${(error as Error).message}`, { cause: error });
  }
}
