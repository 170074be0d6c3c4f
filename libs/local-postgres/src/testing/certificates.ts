import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findAccount } from '../programs.js';

/** Paths of PEM files for a server on this machine. */
export interface Certificates {
  /** Valid for `localhost`, not for 127.0.0.1, and for a client. */
  readonly certificate: string;
  readonly key: string;
  /** The CA that signed the certificate. `otherCa` did not. */
  readonly ca: string;
  readonly otherCa: string;
  remove(): Promise<void>;
}

export async function createCertificates(): Promise<Certificates> {
  // Takes as long to load as all other packages of a spec that uses the database, and most of those need no certificate.
  const { generate } = await import('selfsigned');
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
  const authority = (value: string) =>
    generate([{ name: 'commonName', value }], {
      ...{ algorithm: 'sha256', keyType: 'ec' },
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    });
  const [ca, otherCa] = [await authority('animal-store test CA'), await authority('another test CA')];
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...{ algorithm: 'sha256', keyType: 'ec', ca: { key: ca.private, cert: ca.cert } },
    extensions: [
      { name: 'extKeyUsage', clientAuth: true, serverAuth: true },
      // The type of a host name (RFC 5280).
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  return {
    certificate: await write('server.pem', server.cert),
    key: await write('server-key.pem', server.private),
    ca: await write('ca.pem', ca.cert),
    otherCa: await write('other-ca.pem', otherCa.cert),
    remove: () => rm(folder, { recursive: true }),
  };
}
