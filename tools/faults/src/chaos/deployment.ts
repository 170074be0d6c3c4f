import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { DurablePostgres, TcpProxy } from '@animal-store/local-postgres/testing';
import { Balancer } from '@animal-store/test-kit/balancer';
import { kill, programPath, ServiceProcess } from '@animal-store/test-kit/service-process';

const CLIENTS = 3;
const PROBE_INTERVAL_MS = 20;
/** Longer than any timeout. */
const HUNG_MS = 600_000;
const MAX_LOG_LINES = 20;

/** Each signal changes the clock of the process: an hour ahead, an hour behind, then the right time. */
export const CLOCK_JUMPS = 3;
const CLOCK_SIGNAL = 'SIGUSR2';

const PRELOAD = `
  const offsets = [3_600_000, -3_600_000, 0];
  let jumps = 0;
  let offset = 0;
  const now = Date.now;
  Date.now = () => now() + offset;
  globalThis.Date = new Proxy(Date, {
    construct: (target, values) => values.length > 0 ? new target(...values) : new target(target.now()),
  });
  process.on('${CLOCK_SIGNAL}', () => { offset = offsets[jumps++ % offsets.length]; });`;

/** Value for NODE_OPTIONS, which workers inherit. */
const JUMPING_CLOCK = `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}`;

const SERVICE = [process.execPath, programPath('api')];
const ENVIRONMENT = { WORKERS: '2', RATE_LIMIT: '0', DRAIN_SECONDS: '1', NODE_OPTIONS: JUMPING_CLOCK };

/** Starts a service with a log file in the folder. */
function startService(folder: string, database: TcpProxy, prefix: readonly string[] = []): Promise<ServiceProcess> {
  const logFile = join(folder, `${randomUUID()}.log`);
  return ServiceProcess.start({ ...ENVIRONMENT, DATABASE_URL: database.url }, { command: [...prefix, ...SERVICE], logFile });
}

/** A small deployment: clients → balancer → service with two workers → TCP proxy → PostgreSQL. */
export class Deployment {
  private replaced: ServiceProcess | undefined;

  private constructor(
    readonly postgres: DurablePostgres,
    readonly database: TcpProxy,
    readonly balancer: Balancer,
    readonly keys: readonly string[],
    private readonly revokedKey: string,
    private readonly folder: string,
    public service: ServiceProcess,
  ) {}

  static async build(): Promise<Deployment> {
    const postgres = await DurablePostgres.start();
    const database = await TcpProxy.start(postgres.url);
    const folder = await mkdtemp(join(tmpdir(), 'animal-store-chaos-'));
    const balancer = await Balancer.start();
    const service = await startService(folder, database);
    await service.waitUntilReady();
    await balancer.add(service.url);
    const access = await connectAccessUseCases(postgres.url);
    const createKey = (clientName: string) =>
      access.manageApiKeys.create({ clientName, environment: 'chaos', scopes: ['pets:read', 'pets:write'] });
    const keys: string[] = [];
    for (let i = 0; i < CLIENTS; i++) keys.push((await createKey(`chaos ${i}`)).secret);
    const revoked = await createKey('chaos revoked');
    await access.manageApiKeys.revoke(String(revoked.key.id));
    await access.close();
    return new Deployment(postgres, database, balancer, keys, revoked.secret, folder, service);
  }

  /** The last warnings, errors and lines of stderr, of this service and the previous one. */
  get recentLogLines(): readonly string[] {
    return [this.replaced, this.service].flatMap((service) => service?.problems.slice(-MAX_LOG_LINES) ?? []);
  }

  /** Kills one worker. */
  killWorker(): void {
    kill(this.service.workers.slice(0, 1));
  }

  /** Changes the wall clock of every process. */
  jumpClock(): void {
    kill([this.service.pid, ...this.service.workers], CLOCK_SIGNAL);
  }

  async killAndReplaceService(): Promise<void> {
    this.balancer.remove(this.service.url);
    this.replaced = this.service;
    await this.service.kill();
    this.service = await startService(this.folder, this.database);
    await this.balancer.add(this.service.url);
  }

  /** Replaces the service like a rolling update: the new one is ready before the old one gets SIGTERM. */
  async rollService(maxDescriptors?: number): Promise<void> {
    const prefix = maxDescriptors === undefined ? [] : ['prlimit', `--nofile=${maxDescriptors}`];
    await this.replaceService(await startService(this.folder, this.database, prefix));
  }

  /** Throws if the service accepts a revoked key during this time. */
  async expectRevokedKeyRejected(ms: number): Promise<void> {
    for (const end = performance.now() + ms; performance.now() < end; await sleep(PROBE_INTERVAL_MS)) {
      const response = await fetch(`${this.balancer.url}/v1/pets`, { headers: { Authorization: `Bearer ${this.revokedKey}` } });
      await response.arrayBuffer();
      if (![401, 503].includes(response.status)) throw new Error(`a revoked key got status ${response.status}`);
    }
  }

  /** Replaces the service by one that starts while the database accepts connections but does not respond. */
  async rollServiceWithHungDatabase(): Promise<void> {
    this.database.slowDown(HUNG_MS);
    const started = await startService(this.folder, this.database).finally(() => {
      this.database.slowDown(0);
      this.database.disconnect();
    });
    await this.replaceService(started);
  }

  private async replaceService(started: ServiceProcess): Promise<void> {
    const old = (this.replaced = this.service);
    this.service = started;
    await started.waitUntilReady();
    await this.balancer.add(started.url);
    const code = await old.stop();
    this.balancer.remove(old.url);
    if (code !== 0) throw new Error(`the service exited with ${code} after SIGTERM`);
  }

  async tearDown(): Promise<void> {
    await this.balancer.stop();
    await this.service.stop();
    await this.database.cut();
    await this.postgres.remove();
    await rm(this.folder, { recursive: true });
  }
}
