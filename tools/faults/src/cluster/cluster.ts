import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, open, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { type Account, findAccount, findClosedFolder, replacePrivateFile, setprivCommand } from '@animal-store/local-postgres';
import { kill } from '@animal-store/test-kit/service-process';
import { Client } from 'pg';
import { configurationOf, createCertificates, etcdOf, type Passwords, patroniOf } from './configuration.js';
import { type DebianPrograms, findPrograms } from './debian.js';
import { API_PROCESSES, type ApiProcess, folderOf, type Layout, layoutOf, LOOPBACK, type NodeName, NODES, tlsFolderOf } from './layout.js';
import { requestPatroni } from './patroni-client.js';
import { processesIn } from './processes.js';

const API = fileURLToPath(new URL('../../../../apps/api/bundle/main.js', import.meta.url));
const DATABASE = 'animal_store';
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 200;
const REQUEST_TIMEOUT_MS = 3_000;

/** The network of the nodes. By default, all of them share the loopback interface. */
export interface Network {
  hostOf(node: NodeName): string;
  /** The command that runs a program on the node. */
  commandOf(node: NodeName): readonly string[];
}

const SHARED_NETWORK: Network = { hostOf: () => LOOPBACK, commandOf: () => [] };

/** A PostgreSQL server as Patroni sees it. */
export interface Member {
  readonly name: NodeName;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
  /** Bytes of WAL that the standby has not replayed. */
  readonly lag?: number | string;
}

/** Settings that do not change while the folder of a cluster exists. */
interface Settings {
  readonly basePort: number;
  readonly passwords: Passwords;
}

/** Three nodes with PostgreSQL, Patroni and etcd, then HAProxy, PgBouncer and the service: all as processes of this machine. */
export class Cluster {
  private constructor(
    readonly layout: Layout,
    private readonly settings: Settings,
    private readonly network: Network,
    private readonly account: Account | undefined,
  ) {}

  /** Opens the cluster of a folder, or creates it with these ports. Starts nothing. */
  static async create(folder: string, basePort: number, network = SHARED_NETWORK): Promise<Cluster> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const account = await accountOf(folder);
    const file = settingsFile(folder);
    if (!existsSync(file)) {
      if (account) await chown(folder, account.uid, account.gid);
      const password = () => randomBytes(24).toString('hex');
      const passwords = { superuser: password(), replication: password(), rewind: password(), patroni: password(), service: password() };
      await writeFile(file, JSON.stringify({ basePort, passwords } satisfies Settings, undefined, 2), { mode: 0o600 });
    }
    return (await Cluster.open(folder, network)) as Cluster;
  }

  /** Opens the cluster of a folder, or returns undefined if there is none. */
  static async open(folder: string, network = SHARED_NETWORK): Promise<Cluster | undefined> {
    if (!existsSync(settingsFile(folder))) return undefined;
    const settings = JSON.parse(await readFile(settingsFile(folder), 'utf8')) as Settings;
    const layout = layoutOf(await realpath(folder), settings.basePort, (node) => network.hostOf(node));
    return new Cluster(layout, settings, network, await accountOf(folder));
  }

  get serviceUrl(): string {
    return `http://${LOOPBACK}:${this.layout.ports.service}`;
  }

  /** URL of the database through PgBouncer, which the service uses. */
  get pooledUrl(): string {
    return this.urlOf({ port: this.layout.ports.pgbouncer });
  }

  /** URL of the primary through HAProxy. */
  get primaryUrl(): string {
    return this.urlOf({ port: this.layout.ports.primary });
  }

  /** Path of the file with an API key for all operations. */
  get apiKeyFile(): string {
    return join(this.layout.folder, 'api-key');
  }

  /** URL of the database on a server, for the role of the service. */
  urlOf({ host = LOOPBACK, port }: { readonly host?: string; readonly port: number }): string {
    return `postgres://${DATABASE}:${this.settings.passwords.service}@${host}:${port}/${DATABASE}`;
  }

  /**
   * Starts each process that does not run. Resolves when requests are served and both standbys replicate. On failure, stops the processes
   * that it has started, and no others.
   */
  async up(): Promise<void> {
    const programs = findPrograms();
    await this.writeConfiguration(programs);
    const running = await this.running();
    try {
      await this.startAll();
    } catch (error) {
      if (running.length === 0) await this.down();
      else await this.stop(this.processes().filter((name) => !running.includes(name)));
      throw error;
    }
  }

  /** Resolves when every Patroni sees a primary, a synchronous standby and another standby on one timeline, and both receive WAL. */
  async waitUntilComplete(): Promise<void> {
    await this.waitFor('cluster', async () => {
      const views = await Promise.all(NODES.map((name) => this.membersSeenBy(name)));
      if (!views.every(isComplete)) throw new Error(JSON.stringify(views));
      const streaming = await this.streaming();
      if (streaming.length < NODES.length - 1) throw new Error(`Only these standbys receive WAL: ${streaming.join()}`);
    });
  }

  /** Returns the standbys that receive WAL. A standby that runs but has missed WAL that the primary has removed is not among them. */
  async streaming(): Promise<readonly string[]> {
    const query = `SELECT application_name AS name FROM pg_stat_replication WHERE state = 'streaming'`;
    const { rows } = await this.asSuperuser((client) => client.query<{ name: string }>(query));
    return rows.map(({ name }) => name);
  }

  /** Returns the names of the processes that run. */
  private async running(): Promise<readonly string[]> {
    const names = this.processes();
    const pids = await Promise.all(names.map((name) => this.pidsOf(name)));
    return names.filter((_, index) => (pids[index]?.length ?? 0) > 0);
  }

  /** Stops all processes. The data stays. */
  async down(): Promise<void> {
    const groups = [[...API_PROCESSES], ['pgbouncer'], ['haproxy'], NODES.map(patroniOf), NODES.map(etcdOf)];
    for (const group of groups) await this.stop(group);
  }

  /** Names of all processes, in start order. */
  processes(): string[] {
    return [...NODES.map(etcdOf), ...NODES.map(patroniOf), 'haproxy', 'pgbouncer', ...API_PROCESSES];
  }

  /** Returns process ids. Those of a Patroni include its PostgreSQL. */
  pidsOf(name: string): Promise<number[]> {
    return processesIn(folderOf(this.layout, name));
  }

  async start(name: string): Promise<void> {
    const folder = folderOf(this.layout, name);
    const log = await open(join(folder, 'log'), 'a', 0o600);
    try {
      const [file = '', ...args] = [...(await this.commandPrefix(name)), ...this.commandOf(name, findPrograms())];
      const child = spawn(file, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], ...(isApi(name) && this.serviceEnvironment(name)) },
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
      });
      await once(child, 'spawn');
      child.unref();
    } finally {
      await log.close();
    }
  }

  /** Returns the servers of the cluster, according to the first Patroni that responds. */
  members(): Promise<readonly Member[]> {
    return Promise.any(NODES.map((name) => this.membersSeenBy(name)));
  }

  /** Returns the servers according to one Patroni. A disconnected node has an outdated view. */
  private async membersSeenBy(name: NodeName): Promise<readonly Member[]> {
    const response = await requestPatroni(this.layout, name, '/cluster', { timeoutMs: REQUEST_TIMEOUT_MS });
    return (JSON.parse(response) as { members: Member[] }).members;
  }

  /** Makes the candidate the primary. */
  async switchover(leader: NodeName, candidate: NodeName): Promise<void> {
    const { patroni: password } = this.settings.passwords;
    const request = { method: 'POST', body: { leader, candidate }, password, timeoutMs: START_TIMEOUT_MS };
    await requestPatroni(this.layout, leader, '/switchover', request);
  }

  private async startAll(): Promise<void> {
    const all = this.processes();
    const servers = all.filter((name) => !isApi(name));
    for (const name of servers) await this.startIfDown(name);
    await this.waitFor('primary', () => this.createDatabase(), servers);
    for (const name of API_PROCESSES) await this.startIfDown(name);
    await this.waitFor(
      'service',
      async () => {
        for (const name of API_PROCESSES) await getJson(`http://${LOOPBACK}:${this.layout.ports[name]}/health/ready`);
        await getJson(`${this.serviceUrl}/health/ready`);
      },
      all,
    );
    await this.waitUntilComplete();
    await this.assertRunning(all);
    if (!existsSync(this.apiKeyFile)) await this.createApiKey();
  }

  /** Throws if a process has exited, for example because its port is taken. */
  private async assertRunning(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if ((await this.pidsOf(name)).length === 0) throw new Error(`${name} exited. See ${join(folderOf(this.layout, name), 'log')}`);
    }
  }

  private async startIfDown(name: string): Promise<void> {
    if ((await this.pidsOf(name)).length === 0) await this.start(name);
  }

  private async stop(names: readonly string[]): Promise<void> {
    const pids = async () => (await Promise.all(names.map((name) => this.pidsOf(name)))).flat();
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    // A frozen process only gets the next signal when it resumes.
    kill(await pids(), 'SIGCONT');
    // Patroni stops its PostgreSQL itself.
    const leaders = names.map((name) => processesIn(folderOf(this.layout, name), { isRecursive: false }));
    kill((await Promise.all(leaders)).flat(), 'SIGTERM');
    for (let left = await pids(); left.length > 0; left = await pids()) {
      if (performance.now() > deadline) kill(left, 'SIGKILL');
      await sleep(POLL_MS);
    }
  }

  private async commandPrefix(name: string): Promise<readonly string[]> {
    const node = NODES.find((candidate) => name.endsWith(candidate));
    return [...(node ? this.network.commandOf(node) : []), ...(this.account ? await setprivCommand(this.account, []) : [])];
  }

  private commandOf(name: string, programs: DebianPrograms): readonly string[] {
    if (name.startsWith('etcd')) return [programs.etcd, '--config-file', 'etcd.yml'];
    if (name.startsWith('patroni')) return [programs.patroni, 'patroni.yml'];
    if (name === 'haproxy') return [programs.haproxy, '-f', 'haproxy.cfg'];
    if (name === 'pgbouncer') return [programs.pgbouncer, 'pgbouncer.ini'];
    return [process.execPath, API];
  }

  private serviceEnvironment(name: ApiProcess): NodeJS.ProcessEnv {
    return {
      HOST: LOOPBACK,
      PORT: `${this.layout.ports[name]}`,
      DATABASE_URL: this.pooledUrl,
      DATABASE_PREPARED: 'off',
      MIGRATION_DATABASE_URL: this.primaryUrl,
      TRUSTED_PROXIES: LOOPBACK,
      RATE_LIMIT: '0',
      DRAIN_SECONDS: '2',
    };
  }

  private async writeConfiguration({ postgresFolder }: DebianPrograms): Promise<void> {
    for (const name of this.processes()) await this.createFolder(folderOf(this.layout, name));
    const configuration = configurationOf(this.layout, this.settings.passwords, postgresFolder);
    for (const [path, text] of configuration) await this.writePrivate(join(this.layout.folder, path), text);
    const tls = tlsFolderOf(this.layout);
    // The authorities are written last.
    if (existsSync(join(tls, 'patroni-ca.pem'))) return;
    for (const [name, text] of await createCertificates(this.layout)) await this.writePrivate(join(tls, name), text);
  }

  private async writePrivate(file: string, text: string): Promise<void> {
    await this.createFolder(dirname(file));
    await replacePrivateFile(file, text);
  }

  private async createFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
    if (this.account) await chown(path, this.account.uid, this.account.gid);
  }

  /** Creates the role and the database of the service if they are missing. */
  private async createDatabase(): Promise<void> {
    const { service } = this.settings.passwords;
    await this.asSuperuser(async (client) => {
      const exists = async (query: string) => (await client.query(query)).rowCount === 1;
      if (!(await exists(`SELECT FROM pg_roles WHERE rolname = '${DATABASE}'`))) {
        await client.query(`CREATE ROLE ${DATABASE} LOGIN PASSWORD '${service}'`);
      }
      // PgBouncer does not pass these on when a client sets them.
      await client.query(`ALTER ROLE ${DATABASE} SET statement_timeout = '3s'`);
      await client.query(`ALTER ROLE ${DATABASE} SET search_path = ''`);
      if (!(await exists(`SELECT FROM pg_database WHERE datname = '${DATABASE}'`))) {
        await client.query(`CREATE DATABASE ${DATABASE} OWNER ${DATABASE}`);
      }
    });
  }

  /** Runs `work` with a connection to the primary. */
  async asSuperuser<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({
      connectionString: `postgres://postgres:${this.settings.passwords.superuser}@${LOOPBACK}:${this.layout.ports.primary}/postgres`,
      connectionTimeoutMillis: REQUEST_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private async createApiKey(): Promise<void> {
    const access = await connectAccessUseCases(this.primaryUrl);
    try {
      const input = { clientName: 'cluster', environment: 'cluster', scopes: ['pets:read', 'pets:write'] };
      await access.manageApiKeys.create(input, ({ secret }) => replacePrivateFile(this.apiKeyFile, `${secret}\n`));
    } finally {
      await access.close();
    }
  }

  /** Repeats an attempt until it succeeds. Throws on timeout, or if one of the processes has exited. */
  private async waitFor(what: string, attempt: () => Promise<void>, processes: readonly string[] = []): Promise<void> {
    for (const deadline = performance.now() + START_TIMEOUT_MS; ; await sleep(POLL_MS)) {
      try {
        return await attempt();
      } catch (cause) {
        await this.assertRunning(processes);
        const problem = `The ${what} is not ready after ${START_TIMEOUT_MS / 1000} s. See the logs in ${this.layout.folder}`;
        if (performance.now() > deadline) throw new Error(problem, { cause });
      }
    }
  }
}

function isApi(name: string): name is ApiProcess {
  return API_PROCESSES.some((api) => api === name);
}

function settingsFile(folder: string): string {
  return join(folder, 'cluster.json');
}

/**
 * If this process is root, returns the account that the cluster's processes run as, without capabilities.
 * @throws Error if the account cannot enter the folders of the data and of the programs
 */
async function accountOf(folder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const account = await findAccount(folder);
  for (const path of [dirname(folder), dirname(API), dirname(process.execPath)]) {
    const closed = await findClosedFolder(account, path);
    if (closed !== undefined)
      throw new Error(`the user ${account.uid} runs the cluster and cannot enter ${closed}: move it, or run chmod o+x ${closed}`);
  }
  return account;
}

function isComplete(members: readonly Member[]): boolean {
  const roles = members.filter(({ state }) => state === 'running' || state === 'streaming').map(({ role }) => role);
  return roles.sort().join() === 'leader,replica,sync_standby' && new Set(members.map(({ timeline }) => timeline)).size === 1;
}

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return body;
}
