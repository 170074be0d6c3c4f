import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configurationOf } from './configuration.js';
import { layoutOf, NODES } from './layout.js';

const layout = layoutOf('/data/cluster', 20_000, (name) => `10.0.0.${NODES.indexOf(name) + 1}`);
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
