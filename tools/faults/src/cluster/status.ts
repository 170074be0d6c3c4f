import { readFile } from 'node:fs/promises';
import { table } from '../table.js';
import type { Cluster, Member } from './cluster.js';
import { LOOPBACK, NODES } from './layout.js';

/** PostgreSQL's role names by Patroni's role names. */
const ROLES: Readonly<Record<string, string>> = { leader: 'primary', sync_standby: 'synchronous standby', replica: 'standby' };

/** Returns a description of a cluster for people: processes, PostgreSQL servers, ports, and a request with its status. */
export async function describeStatus(cluster: Cluster): Promise<string> {
  const { ports } = cluster.layout;
  const pids = await Promise.all(cluster.processes().map(async (name) => [name, await cluster.pidsOf(name)] as const));
  const down = pids.filter(([, found]) => found.length === 0).map(([name]) => name);
  const members = await cluster.members().catch((): readonly Member[] => []);
  const streaming = await cluster.streaming().catch((): readonly string[] => []);
  const rows = members.map(({ name, role, state, timeline, lag }) => {
    const { host, postgres } = cluster.layout.nodes[name];
    return [
      name,
      `${host}:${postgres}`,
      ROLES[role] ?? role,
      role === 'leader' ? state : streaming.includes(name) ? 'streaming' : 'not streaming',
      `${timeline ?? '?'}`,
      role === 'leader' ? '' : `${lag ?? '?'}`,
    ];
  });
  const url = `${cluster.serviceUrl}/v1/pets?limit=1`;
  return [
    `Folder: ${cluster.layout.folder}`,
    `Processes: ${pids.length - down.length} of ${pids.length} running${down.length > 0 ? `; down: ${down.join(', ')}` : ''}`,
    `Standbys: ${streaming.length} of ${NODES.length - 1} streaming`,
    '',
    rows.length > 0 ? table(['server', 'address', 'role', 'state', 'timeline', 'bytes behind'], rows) : 'No Patroni responds.',
    '',
    `${LOOPBACK}:${ports.service}  service, through HAProxy`,
    `${LOOPBACK}:${ports.pgbouncer}  primary, through PgBouncer and HAProxy`,
    `${LOOPBACK}:${ports.primary}  primary, through HAProxy`,
    `${LOOPBACK}:${ports.standbys}  standbys, through HAProxy`,
    '',
    `curl -i -H "Authorization: Bearer $(cat ${cluster.apiKeyFile})" '${url}'`,
    await statusOf(url, cluster.apiKeyFile),
  ].join('\n');
}

async function statusOf(url: string, apiKeyFile: string): Promise<string> {
  try {
    const key = (await readFile(apiKeyFile, 'utf8')).trim();
    const response = await fetch(url, { headers: { Authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(5_000) });
    return `${response.status} ${await response.text()}`;
  } catch (error) {
    return `No response: ${(error as Error).message}`;
  }
}
