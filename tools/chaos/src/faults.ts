import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import { Client } from 'pg';
import { floodHeaders, leaveResponsesUnread } from './hostile-clients.js';
import { CLOCK_JUMPS } from './jumping-clock.js';
import type { Deployment } from './deployment.js';

/** A fault that is injected under load. */
export interface Fault {
  readonly name: string;
  /** Whether requests may get no response during the fault. False if the service itself keeps running. */
  readonly mayDrop: boolean;
  /** Maximum time from the end of the fault until each operation succeeds again. Undefined if nothing is promised. */
  readonly recoversWithinMs?: number;
  run(deployment: Deployment): Promise<void>;
}

/** Promised recovery time after the database is back. */
const DATABASE_RECOVERY_MS = 2_000;
const WORKER_DEATHS = 12;
const WORKER_START_MS = 500;

export function faults(scale: { outageMs: number }): Fault[] {
  const { outageMs } = scale;
  return [
    {
      name: 'kill -9 of a worker',
      mayDrop: true,
      run: async ({ service }) => {
        service.killWorker();
        await sleep(outageMs / 4);
      },
    },
    { name: 'kill -9 of the service', mayDrop: true, run: (deployment) => deployment.killAndReplaceService() },
    {
      name: 'kill -9 of PostgreSQL',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async ({ postgres }) => {
        await postgres.kill();
        await postgres.restart();
      },
    },
    { name: 'SIGTERM and replacement', mayDrop: false, run: (deployment) => deployment.rollService() },
    {
      name: 'service started with a hung database',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: (deployment) => deployment.rollServiceWithHungDatabase(),
    },
    {
      // More kills than the supervisor's limit for crashes of ready workers. The limit must not apply to workers that wait for the database.
      name: 'workers killed during a database outage',
      mayDrop: true,
      run: async ({ service, database }) => {
        await database.cut();
        for (let i = 0; i < WORKER_DEATHS; i++) {
          service.killWorkers();
          await sleep(Math.max(WORKER_START_MS, outageMs / WORKER_DEATHS));
        }
        await database.restore();
      },
    },
    {
      name: 'database stopped',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async ({ postgres }) => {
        await postgres.stop();
        await sleep(outageMs);
        await postgres.restart();
      },
    },
    {
      name: 'connections cut',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async ({ database }) => {
        for (let i = 0; i < 5; i++) {
          database.disconnect();
          await sleep(outageMs / 20);
        }
      },
    },
    {
      name: 'database unreachable',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async ({ database }) => {
        await database.cut();
        await sleep(outageMs / 4);
        await database.restore();
      },
    },
    {
      name: 'database slow (100 ms more)',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async ({ database }) => {
        database.slowDown(50);
        await sleep(outageMs / 2);
        database.slowDown(0);
      },
    },
    {
      name: 'database read-only',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async (deployment) => {
        await runAsAdministrator(deployment, 'ALTER DATABASE animal_store SET default_transaction_read_only = on', TERMINATE_SESSIONS);
        await sleep(outageMs / 4);
        await runAsAdministrator(
          deployment,
          'SET default_transaction_read_only = off',
          'ALTER DATABASE animal_store RESET default_transaction_read_only',
          TERMINATE_SESSIONS,
        );
      },
    },
    {
      // PostgreSQL's own error for a full disk, raised where the row is written.
      name: 'database full',
      mayDrop: false,
      recoversWithinMs: DATABASE_RECOVERY_MS,
      run: async (deployment) => {
        await runAsAdministrator(
          deployment,
          `CREATE FUNCTION pg_temp_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
          'CREATE TRIGGER disk_full BEFORE INSERT ON pets.pets FOR EACH ROW EXECUTE FUNCTION pg_temp_disk_full()',
        );
        await sleep(outageMs / 4);
        await runAsAdministrator(deployment, 'DROP TRIGGER disk_full ON pets.pets', 'DROP FUNCTION pg_temp_disk_full()');
      },
    },
    { name: 'slow headers and bodies', mayDrop: false, run: ({ service }) => runSlowClients(service.url, outageMs / 2) },
    {
      name: 'unread pipelined responses',
      mayDrop: false,
      run: ({ service, keys: [key = ''] }) => leaveResponsesUnread(service.url, key, outageMs / 4),
    },
    { name: 'header floods', mayDrop: false, run: ({ service }) => floodHeaders(service.url, outageMs / 4) },
    {
      name: 'clock jumps',
      mayDrop: false,
      run: async ({ service }) => {
        for (let jump = 0; jump < CLOCK_JUMPS; jump++) {
          service.jumpClock();
          await sleep(outageMs / 8);
        }
      },
    },
  ];
}

const TERMINATE_SESSIONS =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

async function runAsAdministrator({ postgres }: Deployment, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Opens 200 connections that send a byte every 200 ms: half of them within the headers, half of them within the body. */
async function runSlowClients(url: string, ms: number): Promise<void> {
  const { port, hostname } = new URL(url);
  const sockets = Array.from({ length: 200 }, (_, i) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(
      i % 2
        ? 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Slow: '
        : 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n',
    );
    return socket;
  });
  const end = performance.now() + ms;
  while (performance.now() < end) {
    for (const socket of sockets) if (socket.writable) socket.write('x');
    await sleep(200);
  }
  for (const socket of sockets) socket.destroy();
}
