import { readFileSync } from 'node:fs';
import { createAuthority } from '@animal-store/local-postgres/testing';
import { folderOf, type Layout, NODES, tlsFolderOf } from './layout.js';

/** Passwords by role. They do not change between starts of a cluster. */
export interface Passwords {
  readonly superuser: string;
  readonly replication: string;
  readonly rewind: string;
  /** Of requests to Patroni that change something. */
  readonly patroni: string;
  readonly service: string;
}

const TEMPLATES = new URL('../../templates/', import.meta.url);

/** Returns the configuration files of a cluster: path below its folder, and text. */
export function configurationOf(layout: Layout, passwords: Passwords, postgresFolder: string): Map<string, string> {
  const { nodes, ports } = layout;
  const addresses = NODES.flatMap((name) => addressOf(nodes[name]).map(([key, value]) => [`${name}.${key}`, value] as const));
  const common = {
    ...Object.fromEntries(addresses),
    ...ports,
    ...Object.fromEntries(Object.entries(passwords).map(([role, password]) => [`${role}-password`, password as string])),
    'postgres-folder': postgresFolder,
    'tls-folder': tlsFolderOf(layout),
  };
  const files = new Map<string, string>();
  const add = (process: string, template: string, values: Values = {}) =>
    files.set(`${process}/${template}`, render(template, { ...common, ...values, folder: folderOf(layout, process) }));
  for (const name of NODES) {
    const node = { ...Object.fromEntries(addressOf(nodes[name])), name };
    add(etcdOf(name), 'etcd.yml', node);
    add(patroniOf(name), 'patroni.yml', node);
  }
  for (const template of ['haproxy.cfg', 'unavailable.http']) add('haproxy', template);
  for (const template of ['pgbouncer.ini', 'userlist.txt']) add('pgbouncer', template);
  return files;
}

/**
 * Creates the certificates of a cluster: PEM files by name, with the private key of each. etcd and Patroni have separate authorities, so that
 * HAProxy, which checks Patroni, has no access to etcd.
 */
export async function createCertificates({ nodes }: Layout): Promise<Map<string, string>> {
  const [etcd, patroni] = [await createAuthority('etcd authority'), await createAuthority('patroni authority')];
  const files = new Map<string, string>();
  const add = async (file: string, authority: typeof etcd, subject: string, hosts?: readonly string[]) => {
    const { key, certificate } = await authority.issue(subject, hosts);
    files.set(file, `${key}\n${certificate}\n`);
  };
  for (const node of NODES) {
    await add(`etcd-${node}.pem`, etcd, `etcd ${node}`, [nodes[node].host]);
    await add(`etcd-client-${node}.pem`, etcd, `patroni ${node}`);
    await add(`patroni-${node}.pem`, patroni, `patroni ${node}`, [nodes[node].host]);
  }
  await add('patroni-client.pem', patroni, 'haproxy');
  return files.set('etcd-ca.pem', etcd.certificate).set('patroni-ca.pem', patroni.certificate);
}

export const etcdOf = (node: string) => `etcd-${node}`;
export const patroniOf = (node: string) => `patroni-${node}`;

type Values = Readonly<Record<string, string | number>>;

function addressOf({ host, postgres, patroni, etcd, etcdPeer }: Layout['nodes'][keyof Layout['nodes']]): [string, string | number][] {
  return Object.entries({ host, postgres, patroni, etcd, 'etcd-peer': etcdPeer });
}

/** Replaces each `${name}` of a template. */
function render(template: string, values: Values): string {
  return readFileSync(new URL(template, TEMPLATES), 'utf8').replace(/\$\{([\w.-]+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${template} has an unknown placeholder: ${name}`);
    return `${value}`;
  });
}
