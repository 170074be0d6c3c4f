import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeRuns, recordFaults } from '../../fault-record.js';
import { Ledger, type Verdict } from '../../ledger.js';
import { query, waitFor } from '@animal-store/local-postgres/testing';
import { kill } from '@animal-store/test-kit/service-process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from '../cluster.js';
import { patroniOf } from '../configuration.js';
import { API_PROCESSES, LOOPBACK, tlsFolderOf } from '../layout.js';
import { processesIn } from '../processes.js';
import { describeStatus } from '../status.js';
import { ClusterLoad } from './cluster-load.js';
import { type Fault, networkFaults, PROCESS_FAULTS } from './cluster-faults.js';
import { figuresOf, longestGap, type Measurement, recoveryAfterFailover, sumOf } from './measurement.js';
import { Namespaces } from './namespaces.js';
import { WriteMonitor } from './write-monitor.js';

// `npm run verify -- cluster`: needs Debian's patroni, etcd-server, haproxy, pgbouncer and postgresql; the network cuts also need root.

const MAIN = fileURLToPath(new URL('../../../dist/cluster/main.js', import.meta.url));
/** Not the default of `npm run cluster`, which may run at the same time. */
const BASE_PORT = 18_000;
const CALM_MS = 3_000;
const RECOVERY_TIMEOUT_MS = 90_000;
const MAX_RECOVERY_AFTER_FAILOVER_MS = 2_000;
const FAULT_TIMEOUT_MS = 240_000;
/** 16 MiB each: more than max_wal_size and wal_keep_size together. */
const WAL_SEGMENTS = 40;

const namespaces = await Namespaces.create();
const measurements: Measurement[] = [];
const verdicts: Verdict[] = [];

const run = async (...args: readonly string[]) => (await promisify(execFile)(process.execPath, [MAIN, ...args])).stdout;

afterAll(async () => {
  await namespaces?.remove();
  const runs = measurements.map(figuresOf);
  process.stdout.write(`\n${describeRuns(runs)}\n`);
  if (process.env['RECORD_FAULTS']) {
    const suite = 'tools/faults/src/cluster/testing/cluster.verify.ts';
    recordFaults({ command: 'npm run verify -- cluster', suite, verdict: sumOf(verdicts), runs });
  }
  if (!namespaces) process.stdout.write('Network cuts were skipped: this machine does not allow network namespaces.\n');
});

describe('npm run cluster', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-cluster-'));
  });

  afterAll(async () => {
    // The next clusters use the same ports.
    await (await Cluster.open(folder))?.down();
    await rm(folder, { recursive: true, force: true });
  });

  it('up starts the service, status describes it, down stops everything, and the next up has the data', async () => {
    const up = await run('--folder', folder, 'up', '--port', `${BASE_PORT}`);
    expect(up).toContain('Processes: 10 of 10 running\nStandbys: 2 of 2 streaming');
    for (const pid of await processesIn(folder)) expect(await readFile(`/proc/${pid}/status`, 'utf8')).toMatch(/^CapEff:\s*0+$/m);
    const pets = `http://127.0.0.1:${BASE_PORT}/v1/pets`;
    const key = (await readFile(join(folder, 'api-key'), 'utf8')).trim();
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const created = await fetch(pets, { method: 'POST', headers, body: '{"name":"Rex","categoryId":7}' });
    const pet = await created.text();
    expect(created.status).toBe(201);
    expect(await run('--folder', folder, 'status')).toContain(`200 [${pet}]`);
    await expectThatStrangersAreRejected(folder);
    await run('--folder', folder, 'down');
    expect(await processesIn(folder)).toEqual([]);
    expect(await run('--folder', folder, 'status')).toContain('No Patroni responds.');
    expect(await run('--folder', folder, 'up')).toContain(`200 [${pet}]`);
    await expectThatFailedUpStopsNothing(folder);
    await run('--folder', folder, 'down');
    expect(await processesIn(folder)).toEqual([]);
  }, 300_000);
});

/** Sends requests to etcd and Patroni without a certificate, with one of another authority, and without the password. */
async function expectThatStrangersAreRejected(folder: string): Promise<void> {
  const { layout } = (await Cluster.open(folder)) as Cluster;
  const { host, patroni, etcd, etcdPeer } = layout.nodes['node-1'];
  const pem = (name: string) => readFile(join(tlsFolderOf(layout), name), 'utf8');
  const [haproxy, etcdClient] = [await pem('patroni-client.pem'), await pem('etcd-client-node-1.pem')];
  const statusOf = async (port: number, path: string, client?: string, method = 'GET') => {
    const certificate = client === undefined ? {} : { cert: client, key: client };
    const sent = request({ host, port, path, method, ...certificate, rejectUnauthorized: false, agent: false }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.resume().statusCode;
  };
  for (const [port, path] of [
    [patroni, '/cluster'],
    [etcd, '/v2/keys'],
    [etcdPeer, '/members'],
  ] as const) {
    await expect(fetch(`http://${host}:${port}${path}`)).rejects.toThrow('fetch failed');
    await expect(statusOf(port, path)).rejects.toThrow();
  }
  await expect(statusOf(etcd, '/v2/keys', haproxy)).rejects.toThrow();
  await expect(statusOf(patroni, '/cluster', etcdClient)).rejects.toThrow();
  expect(await statusOf(etcd, '/v2/keys', etcdClient)).toBe(200);
  expect(await statusOf(patroni, '/cluster', haproxy)).toBe(200);
  expect(await statusOf(patroni, '/restart', haproxy, 'POST')).toBe(401);
}

/** Kills PgBouncer, so that `up` has to start it, and takes its port. */
async function expectThatFailedUpStopsNothing(folder: string): Promise<void> {
  const cluster = (await Cluster.open(folder)) as Cluster;
  const others = cluster.processes().filter((name) => name !== 'pgbouncer');
  const pidsOfOthers = () => Promise.all(others.map((name) => cluster.pidsOf(name)));
  kill(await cluster.pidsOf('pgbouncer'), 'SIGKILL');
  await waitFor(async () => expect(await cluster.pidsOf('pgbouncer')).toEqual([]));
  const port = createServer().listen(cluster.layout.ports.pgbouncer, LOOPBACK);
  await once(port, 'listening');
  const pids = await pidsOfOthers();
  await expect(run('--folder', folder, 'up')).rejects.toThrow('pgbouncer exited');
  expect((await pidsOfOthers()).map(([pid]) => pid)).toEqual(pids.map(([pid]) => pid));
  port.close();
}

interface Environment {
  readonly network: Namespaces | undefined;
  readonly faults: readonly Fault[];
}

const environments: [string, Environment][] = [['on the loopback interface', { network: undefined, faults: PROCESS_FAULTS }]];
if (namespaces) environments.push(['in network namespaces', { network: namespaces, faults: networkFaults(namespaces) }]);

describe.each(environments)('a cluster %s', (_where, { network, faults }) => {
  let folder: string;
  let cluster: Cluster;
  let load: ClusterLoad;
  let writeMonitor: WriteMonitor;
  const ledger = new Ledger();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-cluster-'));
    cluster = await Cluster.create(folder, BASE_PORT, network);
    await cluster.up();
    load = new ClusterLoad(cluster.serviceUrl, (await readFile(cluster.apiKeyFile, 'utf8')).trim(), ledger);
    writeMonitor = new WriteMonitor(cluster);
    load.start();
    writeMonitor.start();
    await sleep(CALM_MS);
  }, 240_000);

  afterAll(async () => {
    await load.stop();
    await writeMonitor.stop();
    await cluster.down();
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  it.each(faults.map((fault) => [fault.name, fault] as const))(
    '%s',
    async (name, fault) => {
      const pids = await servicePids();
      const begin = performance.now();
      const injected = await fault.inject(cluster);
      await recovery();
      await injected?.heal();
      await recovery();
      await cluster.waitUntilComplete();
      await sleep(CALM_MS);
      const end = performance.now();
      const withoutWrites = longestGap(load.successes.writes, begin, end);
      const measurement: Measurement = {
        fault: name,
        withoutWritesMs: withoutWrites.end - withoutWrites.begin,
        recoveryAfterFailoverMs: recoveryAfterFailover(writeMonitor.commits, load.successes.writes, begin, end),
        errors: load.errors.splice(0),
      };
      measurements.push(measurement);
      expect(measurement.errors).toEqual([]);
      expect(ledger.problems).toEqual([]);
      expect(writeMonitor.standbyConnections).toBe(0);
      expect(measurement.recoveryAfterFailoverMs ?? 0).toBeLessThanOrEqual(MAX_RECOVERY_AFTER_FAILOVER_MS);
      const killed = injected?.killed ?? [];
      expect(omit(await servicePids(), killed)).toEqual(omit(pids, killed));
    },
    FAULT_TIMEOUT_MS,
  );

  it('a standby that was down while the primary wrote more than max_wal_size of WAL receives all of it', async () => {
    const [name] = (await cluster.members()).flatMap((member) => (member.role === 'replica' ? member.name : []));
    if (!name) throw new Error('There is no asynchronous standby.');
    kill(await cluster.pidsOf(patroniOf(name)), 'SIGKILL');
    // Patroni drops the slots of members that it no longer knows, unless they are permanent.
    await waitFor(async () => expect((await cluster.members()).map((member) => member.name)).not.toContain(name), { timeoutMs: 60_000 });
    await sleep(CALM_MS);
    await cluster.asSuperuser(async (client) => {
      for (let segment = 0; segment < WAL_SEGMENTS; segment++) {
        await client.query(`SELECT pg_logical_emit_message(false, '', '')`);
        await client.query('SELECT pg_switch_wal()');
      }
      await client.query('CHECKPOINT');
    });
    expect(await describeStatus(cluster)).toContain('Standbys: 1 of 2 streaming');
    await cluster.start(patroniOf(name));
    await cluster.waitUntilComplete();
  }, 240_000);

  it('PgBouncer closes a connection to a standby before a client gets it', async () => {
    const [, connectQuery = ''] = /connect_query='(.*)'/.exec(await readFile(join(folder, 'pgbouncer', 'pgbouncer.ini'), 'utf8')) ?? [];
    const { primary, standbys } = cluster.layout.ports;
    expect(await query(cluster.urlOf({ port: primary }), connectQuery)).toEqual([]);
    await expect(query(cluster.urlOf({ port: standbys }), connectQuery)).rejects.toMatchObject({ code: '57P01' });
  });

  it('no acknowledged write is lost, and none is stored twice', async () => {
    await load.stop();
    const verdict = await ledger.compare(cluster.primaryUrl);
    verdicts.push(verdict);
    process.stdout.write(`${JSON.stringify(verdict)} statuses ${JSON.stringify(Object.fromEntries(ledger.statuses))}\n`);
    expect(verdict).toMatchObject({ lost: 0, duplicates: 0 });
    expect(verdict.acknowledged).toBeGreaterThan(100);
    expect(ledger.problems).toEqual([]);
    expect(load.errors).toEqual([]);
  });

  /** Resolves when the primary and the service have accepted writes again, and the service is ready. */
  async function recovery(): Promise<void> {
    const now = performance.now();
    const options = { timeoutMs: RECOVERY_TIMEOUT_MS, intervalMs: 100 };
    await waitFor(() => {
      for (const times of [writeMonitor.commits, load.successes.writes, load.successes.reads])
        expect(times.at(-1) ?? 0).toBeGreaterThan(now + CALM_MS);
    }, options);
  }

  async function servicePids(): Promise<Readonly<Record<string, readonly number[]>>> {
    return Object.fromEntries(await Promise.all(API_PROCESSES.map(async (name) => [name, await cluster.pidsOf(name)] as const)));
  }
});

function omit<T>(record: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}
