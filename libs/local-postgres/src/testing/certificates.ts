import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findAccount } from '../account.js';

const YEARS = 10;
/** Types of subject alternative names (RFC 5280). */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** Paths of PEM files for a server on this machine. */
export interface Certificates {
  /** Valid for `localhost`, not for 127.0.0.1. */
  readonly certificate: string;
  readonly key: string;
  /** The CA that signed the certificate. `otherCa` did not. */
  readonly ca: string;
  readonly otherCa: string;
  remove(): Promise<void>;
}

export async function createCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-certificates-'));
  const account = process.getuid?.() === 0 ? await findAccount(folder) : undefined;
  const own = (path: string) => account && chown(path, account.uid, account.gid);
  const write = async (name: string, text: string) => {
    const file = join(folder, name);
    // PostgreSQL and libpq reject a key that other users can read.
    await writeFile(file, text, { mode: 0o600 });
    await own(file);
    return file;
  };
  await own(folder);
  const ca = await createAuthority('animal-store test CA');
  const otherCa = await createAuthority('another test CA');
  const server = await ca.issue('localhost', ['localhost']);
  return {
    certificate: await write('server.pem', server.certificate),
    key: await write('server-key.pem', server.key),
    ca: await write('ca.pem', ca.certificate),
    otherCa: await write('other-ca.pem', otherCa.certificate),
    remove: () => rm(folder, { recursive: true }),
  };
}

interface Authority {
  readonly certificate: string;
  /** Returns the key and the certificate of a client or, with host names or addresses, of a server. */
  issue(name: string, hosts?: readonly string[]): Promise<{ readonly key: string; readonly certificate: string }>;
}

/** Creates a certificate authority. Its key is not kept. */
export async function createAuthority(name: string): Promise<Authority> {
  // Takes as long to load as all other packages of a spec that uses the database, and most of those need no certificate.
  const { generate } = await import('selfsigned');
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const options = { algorithm: 'sha256', keyType: 'ec', notAfterDate } as const;
  const ca = await generate([{ name: 'commonName', value: name }], {
    ...options,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    certificate: ca.cert,
    async issue(subject, hosts = []) {
      const altNames = hosts.map((host) =>
        isIP(host) ? ({ type: IP_ADDRESS, ip: host } as const) : ({ type: DNS_NAME, value: host } as const),
      );
      const issued = await generate([{ name: 'commonName', value: subject }], {
        ...options,
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', clientAuth: true, ...(hosts.length > 0 && { serverAuth: true }) },
          ...(hosts.length > 0 ? [{ name: 'subjectAltName' as const, altNames }] : []),
        ],
      });
      return { key: issued.private, certificate: issued.cert };
    },
  };
}
