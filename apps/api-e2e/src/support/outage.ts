import { createTestDatabase, TcpProxy, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { expect } from '@jest/globals';
import { insertKey } from './keys.js';
import { type Environment, Service } from './service.js';

const UNAVAILABLE = { status: 503, retryAfter: '1', code: 'service_unavailable' };

/** An empty database, a proxy that simulates its outages, and a service that migrates it. */
export class Outage {
  service: Service | undefined;

  private constructor(
    readonly database: TestDatabase,
    readonly proxy: TcpProxy,
  ) {}

  static async prepare(): Promise<Outage> {
    const database = await createTestDatabase();
    return new Outage(database, await TcpProxy.start(database.url));
  }

  /** Starts a service, by default behind the proxy. */
  async start(environment: Environment = {}, url = this.proxy.url): Promise<Service> {
    return (this.service = await Service.start(url, { MIGRATION_DATABASE_URL: url, ...environment }));
  }

  async get(path: string, key = 'ast_test_unknown'): Promise<{ status: number; retryAfter: string | null; code: string | undefined }> {
    const response = await fetch((this.service?.url ?? '') + path, { headers: { Authorization: `Bearer ${key}`, Connection: 'close' } });
    const { code } = (await response.json()) as { code?: string };
    return { status: response.status, retryAfter: response.headers.get('retry-after'), code };
  }

  /** Returns how often the service has logged a text. */
  count(text: string): number {
    return (this.service?.output ?? '').split(text).length - 1;
  }

  async expectWaiting(): Promise<void> {
    expect((await this.get('/health/live')).status).toBe(200);
    for (const path of ['/health/ready', '/v1/pets', '/v1/pets/1']) expect(await this.get(path)).toEqual(UNAVAILABLE);
  }

  /** Expects that the service becomes ready, which includes the migrations, and serves requests. Returns a key. */
  async expectServing(url = this.database.url): Promise<string> {
    await waitFor(async () => expect((await this.get('/health/ready')).status).toBe(200));
    const { key } = await insertKey(url, 'suite');
    // On a busy machine, a connection of the pool may exceed its time limit once more.
    await waitFor(async () => expect((await this.get('/v1/pets', key)).status).toBe(200));
    return key;
  }

  /** Expects 503 with this key, which the service has accepted before. */
  async expectUnavailable(key: string): Promise<void> {
    await waitFor(async () => expect(await this.get('/v1/pets', key)).toEqual(UNAVAILABLE));
  }

  async end(): Promise<void> {
    await this.service?.stop('SIGKILL');
    await this.proxy.cut();
    await this.database.drop();
  }
}
