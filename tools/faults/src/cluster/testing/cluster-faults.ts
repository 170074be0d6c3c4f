import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { kill } from '@animal-store/test-kit/service-process';
import type { Cluster } from '../cluster.js';
import { patroniOf } from '../configuration.js';
import { folderOf, type NodeName } from '../layout.js';
import { processesIn } from '../processes.js';
import type { Namespaces } from './namespaces.js';

/** Longer than the timeout after which the primary stops waiting for a standby. */
const FREEZE_STANDBY_MS = 10_000;

export interface Fault {
  readonly name: string;
  inject(cluster: Cluster): Promise<InjectedFault | void>;
}

interface InjectedFault {
  /** Processes that the fault kills. */
  readonly killed?: readonly string[];
  /** Called when writes succeed again. */
  heal(): Promise<void>;
}

export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: 'switchover',
    inject: async (cluster) => {
      const leader = await nodeWithRole(cluster, 'leader');
      const candidate = await nodeWithRole(cluster, 'sync_standby');
      await cluster.switchover(leader, candidate);
    },
  },
  {
    name: "kill -9 of the primary's postmaster",
    inject: async (cluster) => {
      kill([await postmasterOf(cluster, await nodeWithRole(cluster, 'leader'))], 'SIGKILL');
    },
  },
  {
    name: 'kill -9 of postmaster and Patroni',
    inject: async (cluster) => {
      const leader = await nodeWithRole(cluster, 'leader');
      const patroni = await processesIn(folderOf(cluster.layout, patroniOf(leader)), { isRecursive: false });
      kill([...patroni, await postmasterOf(cluster, leader)], 'SIGKILL');
      return { heal: () => cluster.start(patroniOf(leader)) };
    },
  },
  {
    name: 'kill -9 of an API process',
    inject: async (cluster) => {
      kill(await cluster.pidsOf('api-1'), 'SIGKILL');
      return { killed: ['api-1'], heal: () => cluster.start('api-1') };
    },
  },
  {
    name: "SIGSTOP of the primary's postgres",
    inject: (cluster) => freeze(cluster, 'leader'),
  },
  {
    name: "SIGSTOP of the synchronous standby's postgres",
    inject: async (cluster) => {
      const injected = await freeze(cluster, 'sync_standby');
      await sleep(FREEZE_STANDBY_MS);
      return injected;
    },
  },
];

export function networkFaults(namespaces: Namespaces): readonly Fault[] {
  const cut = async (cluster: Cluster, role: string): Promise<InjectedFault> => {
    const node = await nodeWithRole(cluster, role);
    await namespaces.cut(node);
    return { heal: () => namespaces.reconnect(node) };
  };
  return [
    { name: 'network cut of the primary', inject: (cluster) => cut(cluster, 'leader') },
    {
      name: 'network cut of the synchronous standby',
      inject: async (cluster) => {
        const injected = await cut(cluster, 'sync_standby');
        await sleep(FREEZE_STANDBY_MS);
        return injected;
      },
    },
  ];
}

async function nodeWithRole(cluster: Cluster, role: string): Promise<NodeName> {
  const members = await cluster.members();
  const found = members.find((member) => member.role === role);
  if (!found) throw new Error(`No server is ${role}: ${JSON.stringify(members)}`);
  return found.name;
}

const dataFolderOf = (cluster: Cluster, node: NodeName) => join(folderOf(cluster.layout, patroniOf(node)), 'data');

async function postmasterOf(cluster: Cluster, node: NodeName): Promise<number> {
  return Number((await readFile(join(dataFolderOf(cluster, node), 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** Freezes every process of the server. Connections to it stay open. */
async function freeze(cluster: Cluster, role: string): Promise<InjectedFault> {
  const pids = await processesIn(dataFolderOf(cluster, await nodeWithRole(cluster, role)));
  kill(pids, 'SIGSTOP');
  return { heal: async () => kill(pids, 'SIGCONT') };
}
