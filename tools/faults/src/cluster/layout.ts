import { join } from 'node:path';

export const NODES = ['node-1', 'node-2', 'node-3'] as const;
export type NodeName = (typeof NODES)[number];

export const LOOPBACK = '127.0.0.1';

export const API_PROCESSES = ['api-1', 'api-2'] as const;
export type ApiProcess = (typeof API_PROCESSES)[number];

/** The folders, addresses and ports of a cluster. */
export interface Layout {
  readonly folder: string;
  /** Ports of the loopback interface that belong to no node. */
  readonly ports: Readonly<Record<'service' | 'primary' | 'standbys' | 'pgbouncer' | ApiProcess, number>>;
  /** A node runs PostgreSQL, Patroni and etcd. It represents one machine. */
  readonly nodes: Readonly<Record<NodeName, NodeAddress>>;
}

export interface NodeAddress {
  readonly host: string;
  readonly postgres: number;
  readonly patroni: number;
  readonly etcd: number;
  readonly etcdPeer: number;
}

/** Returns a layout whose ports follow `basePort`. `hostOf` returns the address of a node. */
export function layoutOf(folder: string, basePort: number, hostOf: (name: NodeName) => string = () => LOOPBACK): Layout {
  const nodes = NODES.map((name, index): [NodeName, NodeAddress] => {
    const first = basePort + 10 * (index + 1);
    return [name, { host: hostOf(name), postgres: first, patroni: first + 1, etcd: first + 2, etcdPeer: first + 3 }];
  });
  return {
    folder,
    ports: {
      service: basePort,
      primary: basePort + 1,
      standbys: basePort + 2,
      pgbouncer: basePort + 3,
      'api-1': basePort + 4,
      'api-2': basePort + 5,
    },
    nodes: Object.fromEntries(nodes) as Record<NodeName, NodeAddress>,
  };
}

/** Returns the folder of the keys and certificates. */
export function tlsFolderOf({ folder }: Pick<Layout, 'folder'>): string {
  return join(folder, 'tls');
}

/** Returns the folder of a process, with its configuration and its log. */
export function folderOf({ folder }: Layout, process: string): string {
  return join(folder, process);
}
