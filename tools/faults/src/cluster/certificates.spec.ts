import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createCertificates } from './certificates.js';
import { layoutOf, NODES } from './layout.js';

describe('the certificates of a cluster', () => {
  const hostOf = (name: (typeof NODES)[number]) => `10.0.0.${NODES.indexOf(name) + 1}`;
  let files: Map<string, string>;
  const certificate = (name: string) => new X509Certificate(files.get(`${name}.pem`) ?? '');

  beforeAll(async () => {
    files = await createCertificates(layoutOf('/data/cluster', 20_000, hostOf));
  });

  it.each(NODES)('are valid for %s, each of its own authority', (node) => {
    for (const [name, authority, other] of [
      ['etcd', 'etcd-ca', 'patroni-ca'],
      ['patroni', 'patroni-ca', 'etcd-ca'],
    ] as const) {
      const server = certificate(`${name}-${node}`);
      expect(server.checkIP(hostOf(node))).toBe(hostOf(node));
      expect(server.checkIP('10.0.0.9')).toBeUndefined();
      expect(server.verify(certificate(authority).publicKey)).toBe(true);
      expect(server.verify(certificate(other).publicKey)).toBe(false);
    }
    expect(certificate(`etcd-client-${node}`).verify(certificate('etcd-ca').publicKey)).toBe(true);
  });

  it('are followed by their keys, without those of the authorities, and HAProxy only has one for Patroni', () => {
    for (const [name, text] of files) expect([name, text.includes('PRIVATE KEY')]).toEqual([name, !name.endsWith('-ca.pem')]);
    expect(certificate('patroni-client').verify(certificate('patroni-ca').publicKey)).toBe(true);
  });
});
