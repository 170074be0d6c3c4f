import { generate } from 'selfsigned';
import { type Layout, NODES } from './layout.js';

const YEARS = 10;
/** The type of a subject alternative name (RFC 5280). */
const IP_ADDRESS = 7;

interface Authority {
  readonly certificate: string;
  /** Returns a private key and its certificate, for a server at the addresses and for a client, as one PEM file. */
  issue(name: string, addresses?: readonly string[]): Promise<string>;
}

/**
 * Creates the certificates of a cluster: PEM files by name. etcd and Patroni have separate authorities, so that HAProxy, which checks
 * Patroni, has no access to etcd. The keys of the authorities are not kept.
 */
export async function createCertificates({ nodes }: Layout): Promise<Map<string, string>> {
  const [etcd, patroni] = [await createAuthority('etcd'), await createAuthority('patroni')];
  const files = new Map<string, string>();
  for (const node of NODES) {
    files.set(`etcd-${node}.pem`, await etcd.issue(`etcd ${node}`, [nodes[node].host]));
    files.set(`etcd-client-${node}.pem`, await etcd.issue(`patroni ${node}`));
    files.set(`patroni-${node}.pem`, await patroni.issue(`patroni ${node}`, [nodes[node].host]));
  }
  files.set('patroni-client.pem', await patroni.issue('haproxy'));
  return files.set('etcd-ca.pem', etcd.certificate).set('patroni-ca.pem', patroni.certificate);
}

async function createAuthority(name: string): Promise<Authority> {
  const notAfterDate = new Date();
  notAfterDate.setFullYear(notAfterDate.getFullYear() + YEARS);
  const options = { algorithm: 'sha256', keyType: 'ec', notAfterDate } as const;
  const ca = await generate([{ name: 'commonName', value: `${name} authority` }], {
    ...options,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    certificate: ca.cert,
    async issue(subject, addresses = []) {
      const issued = await generate([{ name: 'commonName', value: subject }], {
        ...options,
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', clientAuth: true, ...(addresses.length > 0 && { serverAuth: true }) },
          ...(addresses.length > 0
            ? [{ name: 'subjectAltName' as const, altNames: addresses.map((ip) => ({ type: IP_ADDRESS, ip }) as const) }]
            : []),
        ],
      });
      return `${issued.private}\n${issued.cert}\n`;
    },
  };
}
