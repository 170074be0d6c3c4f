import { connectAccessUseCases } from '@animal-store/access-infrastructure';
import { DurablePostgres, TcpProxy } from '@animal-store/local-postgres/testing';
import { Balancer } from './balancer.js';
import { ServiceProcess } from './service-process.js';

const CLIENTS = 3;
/** Longer than any timeout. */
const HUNG_MS = 600_000;

/** A small deployment: clients → balancer → service with two workers → TCP proxy → PostgreSQL. */
export class Deployment {
  private replaced: ServiceProcess | undefined;

  private constructor(
    readonly postgres: DurablePostgres,
    readonly database: TcpProxy,
    readonly balancer: Balancer,
    readonly keys: readonly string[],
    public service: ServiceProcess,
  ) {}

  static async build(): Promise<Deployment> {
    const postgres = await DurablePostgres.start();
    const database = await TcpProxy.start(postgres.url);
    const balancer = await Balancer.start();
    const service = await startService(database.url);
    await balancer.add(service.url);
    const access = await connectAccessUseCases(postgres.url);
    const keys: string[] = [];
    for (let i = 0; i < CLIENTS; i++) {
      const created = await access.createApiKey.execute({
        clientName: `chaos ${i}`,
        environment: 'chaos',
        scopes: ['pets:read', 'pets:write'],
      });
      keys.push(created.secret);
    }
    await access.close();
    return new Deployment(postgres, database, balancer, keys, service);
  }

  /** The last warnings, errors and lines of stderr, of this service and the previous one. */
  get recentLogLines(): readonly string[] {
    return [...(this.replaced?.recentLogLines ?? []), ...this.service.recentLogLines];
  }

  async killAndReplaceService(): Promise<void> {
    this.balancer.remove(this.service.url);
    this.replaced = this.service;
    await this.service.kill();
    this.service = await startService(this.database.url);
    await this.balancer.add(this.service.url);
  }

  /** Replaces the service like a rolling update: the new one is ready before the old one gets SIGTERM. */
  async rollService(): Promise<void> {
    await this.replaceService(await startService(this.database.url));
  }

  /** Replaces the service by one that starts while the database accepts connections but does not respond. */
  async rollServiceWithHungDatabase(): Promise<void> {
    this.database.slowDown(HUNG_MS);
    const started = await startService(this.database.url).finally(() => {
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
    const code = await old.terminate();
    this.balancer.remove(old.url);
    if (code !== 0) throw new Error(`the service exited with ${code} after SIGTERM`);
  }

  async tearDown(): Promise<void> {
    this.balancer.stop();
    await this.service.terminate();
    await this.database.cut();
    await this.postgres.remove();
  }
}

function startService(databaseUrl: string): Promise<ServiceProcess> {
  return ServiceProcess.start({ DATABASE_URL: databaseUrl, WORKERS: '2', RATE_LIMIT: '0', DRAIN_SECONDS: '1' });
}
