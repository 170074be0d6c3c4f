import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configurationOf, createCertificates } from './configuration.js';
import { findPrograms } from './debian.js';
import { layoutOf, NODES } from './layout.js';
import { figuresOf, longestGap, recoveryAfterFailover, sumOf } from './testing/measurement.js';

const hostOf = (name: (typeof NODES)[number]) => `10.0.0.${NODES.indexOf(name) + 1}`;
const layout = layoutOf('/data/cluster', 20_000, hostOf);

describe('the certificates of a cluster', () => {
  let files: Map<string, string>;
  const certificate = (name: string) => new X509Certificate(files.get(`${name}.pem`) ?? '');

  beforeAll(async () => {
    files = await createCertificates(layout);
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

describe('the configuration', () => {
  const passwords = { superuser: 'a1', replication: 'b2', rewind: 'c3', patroni: 'e5', service: 'd4' };
  const files = configurationOf(layout, passwords, '/usr/lib/postgresql/15/bin');
  const textOf = (path: string) => files.get(path) ?? '';

  interface Patroni {
    readonly bootstrap: { readonly dcs: Record<'ttl' | 'loop_wait' | 'retry_timeout', number> & Record<string, unknown> };
  }

  it('all placeholders are replaced', () => {
    for (const text of files.values()) expect(text).not.toContain('${');
  });

  it('no port is used twice', () => {
    const ports = [
      ...Object.values(layout.ports),
      ...NODES.flatMap((name) => Object.values(layout.nodes[name]).filter((value) => typeof value === 'number')),
    ];
    expect(new Set(ports).size).toBe(18);
    expect(Math.max(...ports)).toBe(20_033);
  });

  describe('Patroni', () => {
    const patroni = parse(textOf('patroni-node-2/patroni.yml')) as Patroni;

    it('uses the v2 API of etcd: with the v3 API, Patroni 3.0.2 loses rows', () => {
      expect(patroni).not.toHaveProperty('etcd3');
      expect(parse(textOf('etcd-node-2/etcd.yml'))).toMatchObject({ 'enable-v2': true });
    });

    it('replicates synchronously, and its timeouts are consistent', () => {
      const { dcs } = patroni.bootstrap;
      expect(dcs).toMatchObject({ synchronous_mode: true, synchronous_mode_strict: true, failsafe_mode: true });
      expect(dcs.ttl).toBeGreaterThanOrEqual(dcs.loop_wait + 2 * dcs.retry_timeout);
    });
  });

  it('HAProxy checks each Patroni by its certificate, and shows its own', () => {
    const checks = textOf('haproxy/haproxy.cfg').match(/check port .*/g) ?? [];
    expect(checks).toHaveLength(6);
    for (const check of checks) expect(check).toMatch(/check-ssl verify required ca-file \S+\/patroni-ca.pem crt \S+\/patroni-client.pem$/);
  });

  it('HAProxy responds with an error in the shape of the service if no process responds', () => {
    const [head = '', body = ''] = textOf('haproxy/unavailable.http').split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual(expect.arrayContaining(['HTTP/1.1 503 Service Unavailable', 'Content-Type: application/json']));
    expect(JSON.parse(body)).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
  });
});

describe('the programs of Debian', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'animal-store-debian-'));
  });

  afterEach(() => rm(root, { recursive: true }));

  async function install(...programs: readonly string[]): Promise<void> {
    for (const program of programs) {
      await mkdir(dirname(join(root, program)), { recursive: true });
      await writeFile(join(root, program), '');
    }
  }

  it('finds the programs, and the newest PostgreSQL with a server', async () => {
    await install('usr/bin/etcd', 'usr/bin/patroni', 'usr/sbin/haproxy', 'usr/sbin/pgbouncer');
    await install('usr/lib/postgresql/9.6/bin/initdb', 'usr/lib/postgresql/15/bin/initdb', 'usr/lib/postgresql/17/bin/psql');
    expect(findPrograms(root)).toEqual({
      etcd: join(root, 'usr/bin/etcd'),
      patroni: join(root, 'usr/bin/patroni'),
      haproxy: join(root, 'usr/sbin/haproxy'),
      pgbouncer: join(root, 'usr/sbin/pgbouncer'),
      postgresFolder: join(root, 'usr/lib/postgresql/15/bin'),
    });
  });

  it('lists only the missing packages', async () => {
    const command = 'apt-get install --no-install-recommends';
    expect(() => findPrograms(root)).toThrow(`${command} etcd-server patroni haproxy pgbouncer postgresql`);
    await install('usr/bin/etcd', 'usr/sbin/haproxy', 'usr/sbin/pgbouncer', 'usr/lib/postgresql/15/bin/initdb');
    expect(() => findPrograms(root)).toThrow(new RegExp(`${command} patroni$`));
  });
});

describe('a measurement', () => {
  it('finds the longest time without a success, including the begin and the end', () => {
    expect(longestGap([1_100, 1_900, 1_500, 500, 2_500], 1_000, 2_000)).toEqual({ begin: 1_100, end: 1_500 });
    expect(longestGap([], 1_000, 2_000)).toEqual({ begin: 1_000, end: 2_000 });
    expect(longestGap([1_100], 1_000, 2_000)).toEqual({ begin: 1_100, end: 2_000 });
  });

  it('measures from the first commit of the new primary to the next write of the service', () => {
    expect(recoveryAfterFailover([1_000, 9_000, 9_500], [1_200, 9_700, 9_800], 0, 10_000)).toBe(700);
  });

  it('returns undefined if the primary had no outage, and infinity if the service does not recover', () => {
    expect(recoveryAfterFailover([1_000, 2_000, 3_000], [1_000, 3_000], 500, 3_500)).toBeUndefined();
    expect(recoveryAfterFailover([1_000, 9_000], [1_000], 0, 9_500)).toBe(Infinity);
  });

  it('has figures in seconds with one decimal', () => {
    const measurement = { fault: 'cut', withoutWritesMs: 4_440, recoveryAfterFailoverMs: undefined, errors: ['a'] };
    expect(figuresOf(measurement)).toEqual({ fault: 'cut', figures: { 'No writes, s': 4.4, Errors: 1 } });
    expect(figuresOf({ ...measurement, recoveryAfterFailoverMs: 960 }).figures).toEqual({
      'No writes, s': 4.4,
      'After new primary, s': 1,
      Errors: 1,
    });
  });

  it('sums verdicts', () => {
    const verdict = { acknowledged: 4, stored: 3, lost: 2, duplicates: 1 };
    expect(sumOf([verdict, verdict])).toEqual({ acknowledged: 8, stored: 6, lost: 4, duplicates: 2 });
  });
});
