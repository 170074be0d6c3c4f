import { execFile } from 'node:child_process';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { processEnvironment, programPath, ServiceProcess } from '@animal-store/test-kit/service-process';

/** More than the maximum of pipelined requests per connection. */
const PIPELINED = 100;

/** The built service with a Redis and a replica that are unreachable, so that it exports all its metrics. */
export class ObservedService {
  private constructor(
    private readonly database: TestDatabase,
    private readonly service: ServiceProcess,
    /** host:port of GET /metrics. */
    readonly metricsAddress: string,
  ) {}

  static async start(): Promise<ObservedService> {
    const database = await createTestDatabase();
    const service = await ServiceProcess.start({
      ...{ DATABASE_URL: database.url, ADMIN_PORT: '0', DRAIN_SECONDS: '0' },
      // Nothing listens on port 1. A busy machine must not count as an overload.
      ...{ REDIS_URL: 'redis://127.0.0.1:1', DATABASE_REPLICA_URLS: 'postgres://127.0.0.1:1/nowhere', MAX_EVENT_LOOP_LAG_MS: '60000' },
    });
    return new ObservedService(database, service, await service.metricsAddress());
  }

  /** Sends requests that affect every metric. */
  async sendRequests(): Promise<void> {
    const key = await this.createKey();
    const send = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(this.service.url + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });
      await response.arrayBuffer();
    };
    const creation = { method: 'POST', body: '{"name":"Rex","categoryId":1}' };
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
    for (let i = 0; i < 2; i++) await send('/v1/pets', { ...creation, headers });
    await send('/v1/pets');
    await send('/v1/pets/1');
    await send('/v1/pets', { headers: { Authorization: 'Bearer wrong' } });
    await send('/health/ready');
    await this.pipeline();
  }

  metrics(): Promise<string> {
    return this.service.metrics();
  }

  async stop(): Promise<void> {
    await this.service.kill();
    await this.database.drop();
  }

  private async createKey(): Promise<string> {
    const command = [programPath('cli'), 'keys', 'create', '--client', 'observed', '--json'];
    const env = processEnvironment({ DATABASE_URL: this.database.url });
    const { stdout } = await promisify(execFile)(process.execPath, command, { env });
    return (JSON.parse(stdout) as { key: string }).key;
  }

  /** Sends more requests than one connection may pipeline: some get a 503. */
  private async pipeline(): Promise<void> {
    const { hostname, port } = new URL(this.service.url);
    const socket = connect(Number(port), hostname);
    const received = text(socket);
    socket.write('GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(PIPELINED));
    if (!(await received).includes('503')) throw new Error('the service rejected no pipelined request');
  }
}
