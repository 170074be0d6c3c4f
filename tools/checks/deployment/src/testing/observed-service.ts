import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { WORKSPACE } from './files.js';

/** The deployed bundle, or for coverage the files that it is built from. */
const FOLDER = process.env['PROGRAM_FOLDER'] ?? 'bundle';
const START_TIMEOUT_MS = 60_000;
/** More than the maximum of pipelined requests per connection. */
const PIPELINED = 100;

/** The built service with two workers, and with a Redis and a replica that are unreachable, so that it exports all its metrics. */
export class ObservedService {
  private constructor(
    private readonly database: TestDatabase,
    private readonly child: ChildProcess,
    private readonly url: string,
    /** host:port of GET /metrics. */
    readonly metricsAddress: string,
  ) {}

  static async start(): Promise<ObservedService> {
    const database = await createTestDatabase();
    const env = {
      ...{ PATH: process.env['PATH'], DATABASE_URL: database.url, PORT: '0', ADMIN_PORT: '0', WORKERS: '2', DRAIN_SECONDS: '0' },
      // Nothing listens on port 1. A busy machine must not count as an overload.
      ...{ REDIS_URL: 'redis://127.0.0.1:1', DATABASE_REPLICA_URLS: 'postgres://127.0.0.1:1/nowhere', MAX_EVENT_LOOP_LAG_MS: '60000' },
    };
    const child = spawn(process.execPath, [programPath('api')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    const [url, port] = await new Promise<[string, string]>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`the service ${what}:\n${output}`));
      const timer = setTimeout(() => fail('does not listen'), START_TIMEOUT_MS);
      child.once('exit', (code) => fail(`exited with ${String(code)}`));
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
        const listening = /"url":"(http:[^"]+)"/.exec(output)?.[1];
        const metrics = /"port":(\d+),"msg":"serving metrics"/.exec(output)?.[1];
        if (listening === undefined || metrics === undefined) return;
        clearTimeout(timer);
        resolve([listening, metrics]);
      });
    });
    return new ObservedService(database, child, url, `127.0.0.1:${port}`);
  }

  /** Sends requests that affect every metric. */
  async sendRequests(): Promise<void> {
    const key = await this.createKey();
    const send = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(this.url + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });
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

  async metrics(): Promise<string> {
    return (await fetch(`http://${this.metricsAddress}/metrics`)).text();
  }

  async stop(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
    await this.database.drop();
  }

  private async createKey(): Promise<string> {
    const { PATH } = process.env;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [programPath('cli'), 'keys', 'create', '--client', 'observed', '--json'],
      {
        env: { PATH, DATABASE_URL: this.database.url },
      },
    );
    return (JSON.parse(stdout) as { key: string }).key;
  }

  /** Sends more requests than one connection may pipeline: some get a 503. */
  private async pipeline(): Promise<void> {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    const received = text(socket);
    socket.write('GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(PIPELINED));
    if (!(await received).includes('503')) throw new Error('the service rejected no pipelined request');
  }
}

/** Returns the path of a built program. */
export function programPath(app: 'api' | 'cli'): string {
  const file = join(WORKSPACE, 'apps', app, FOLDER, 'main.js');
  if (!existsSync(file)) throw new Error(`${file} is missing. Run \`npx nx run-many -t bundle\` first`);
  return file;
}
