import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Network } from '../cluster.js';
import { type NodeName, NODES } from '../layout.js';

const BRIDGE = 'ast-bridge';
const SUBNET = '10.213.77';

const namespaceOf = (node: NodeName) => `ast-${node}`;
/** Name of the node's interface at the bridge. */
const cableOf = (node: NodeName) => `ast-${node}`;
const hostOf = (node: NodeName) => `${SUBNET}.1${NODES.indexOf(node) + 1}`;

/** A network namespace for each node, and a bridge that connects them with this machine. */
export class Namespaces implements Network {
  /** Returns undefined if namespaces are not allowed. */
  static async create(): Promise<Namespaces | undefined> {
    if (process.getuid?.() !== 0) return undefined;
    const namespaces = new Namespaces();
    await namespaces.remove();
    try {
      await namespaces.connectAll();
      return namespaces;
    } catch {
      await namespaces.remove();
      return undefined;
    }
  }

  hostOf(node: NodeName): string {
    return hostOf(node);
  }

  commandOf(node: NodeName): readonly string[] {
    return ['ip', 'netns', 'exec', namespaceOf(node)];
  }

  /** Drops packets from and to the node without an error. */
  async cut(node: NodeName): Promise<void> {
    await ip('link', 'set', cableOf(node), 'nomaster');
  }

  async reconnect(node: NodeName): Promise<void> {
    await ip('link', 'set', cableOf(node), 'master', BRIDGE);
  }

  async remove(): Promise<void> {
    for (const node of NODES) {
      await ip('link', 'del', cableOf(node)).catch(() => undefined);
      await ip('netns', 'del', namespaceOf(node)).catch(() => undefined);
    }
    await ip('link', 'del', BRIDGE).catch(() => undefined);
  }

  private async connectAll(): Promise<void> {
    await ip('link', 'add', BRIDGE, 'type', 'bridge');
    await ip('addr', 'add', `${SUBNET}.1/24`, 'dev', BRIDGE);
    await ip('link', 'set', BRIDGE, 'up');
    for (const node of NODES) {
      const namespace = namespaceOf(node);
      await ip('netns', 'add', namespace);
      await ip('link', 'add', cableOf(node), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
      await ip('link', 'set', cableOf(node), 'master', BRIDGE, 'up');
      await ip('-n', namespace, 'addr', 'add', `${hostOf(node)}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) await ip('-n', namespace, 'link', 'set', device, 'up');
    }
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('ip', args);
}
