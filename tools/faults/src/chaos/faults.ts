import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '@animal-store/local-postgres/testing';
import { kill } from '@animal-store/test-kit/service-process';
import { floodHeaders, leaveResponsesUnread, openSockets, sendSlowly } from './hostile-clients.js';
import { CLOCK_JUMPS, type Deployment } from './deployment.js';

/** A fault that is injected under load. */
export interface Fault {
  readonly name: string;
  /** Whether requests may get no response during the fault. False if the service itself keeps running. */
  readonly mayDrop: boolean;
  /** Maximum time from the end of the fault until each operation succeeds again. Undefined if nothing is promised. */
  readonly recoversWithinMs?: number;
  /** Rejects if it finds a broken promise. */
  run(deployment: Deployment): Promise<void>;
  /** Called after the recovery. */
  cleanUp?(deployment: Deployment): Promise<void>;
}

/** Promised recovery time after the database is back. */
const DATABASE_RECOVERY_MS = 2_000;
const WORKER_DEATHS = 12;
const WORKER_START_MS = 500;
/** Enough for a process of the service, but not for its share of the sockets. */
const DESCRIPTORS = 256;
const EXHAUSTING_SOCKETS = 3_000;
const EXHAUSTED_MS = 2_000;
const LOCK_MS = 50;

export function faults(scale: { outageMs: number }): Fault[] {
  const { outageMs } = scale;
  return [
    {
      name: 'kill -9 of a worker',
      mayDrop: true,
      run: async (deployment) => {
        deployment.killWorker();
        await sleep(outageMs / 4);
      },
    },
    { name: 'kill -9 of the service', mayDrop: true, run: (deployment) => deployment.killAndReplaceService() },
    ofDatabase('kill -9 of PostgreSQL', async ({ postgres }) => {
      await postgres.kill();
      await postgres.restart();
    }),
    { name: 'SIGTERM and replacement', mayDrop: false, run: (deployment) => deployment.rollService() },
    ofDatabase('service started with a hung database', (deployment) => deployment.rollServiceWithHungDatabase()),
    {
      // More kills than the supervisor's limit for crashes of ready workers. The limit must not apply to workers that wait for the database.
      name: 'workers killed during a database outage',
      mayDrop: true,
      run: async ({ service, database }) => {
        await database.cut();
        for (let i = 0; i < WORKER_DEATHS; i++) {
          kill(service.workers);
          await sleep(Math.max(WORKER_START_MS, outageMs / WORKER_DEATHS));
        }
        await database.restore();
      },
    },
    ofDatabase('database stopped', async ({ postgres }) => {
      await postgres.stop();
      await sleep(outageMs);
      await postgres.restart();
    }),
    ofDatabase('database connections cut', async ({ database }) => {
      for (let i = 0; i < 5; i++) {
        database.disconnect();
        await sleep(outageMs / 20);
      }
    }),
    ofDatabase('database unreachable', async ({ database }) => {
      await database.cut();
      await sleep(outageMs / 4);
      await database.restore();
    }),
    ofDatabase('database slow (100 ms more)', async ({ database }) => {
      database.slowDown(50);
      await sleep(outageMs / 2);
      database.slowDown(0);
    }),
    { ...setting('default_transaction_read_only', 'on', () => sleep(outageMs / 4)), name: 'database read-only' },
    // Dates of this style cannot be read as ISO dates.
    setting('DateStyle', 'German', (deployment) => deployment.expectRevokedKeyRejected(outageMs / 4)),
    // Creations wait for this lock.
    setting('lock_timeout', '1ms', async (deployment) => {
      const statements = ['BEGIN', 'LOCK TABLE pets.pets IN SHARE MODE', `SELECT pg_sleep(${LOCK_MS / 1000})`, 'COMMIT'];
      for (const end = performance.now() + outageMs / 4; performance.now() < end; await sleep(LOCK_MS))
        await runAsAdministrator(deployment, ...statements);
    }),
    setting('idle_session_timeout', '20ms', () => sleep(outageMs / 4)),
    // Without its writer, the server stores only transactions that wait for it. It loses the others when it is killed.
    setting('synchronous_commit', 'off', async (deployment) => {
      const [{ pid } = { pid: 0 }] = await runAsAdministrator<{ pid: number }>(
        deployment,
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
      );
      process.kill(pid, 'SIGSTOP');
      await sleep(outageMs / 4);
      const killed = deployment.postgres.kill();
      process.kill(pid, 'SIGKILL');
      await killed;
      await deployment.postgres.restart();
    }),
    {
      name: 'descriptor table full',
      mayDrop: true,
      run: async (deployment) => {
        await deployment.rollService(DESCRIPTORS);
        await openSockets(deployment.service.url, EXHAUSTING_SOCKETS, EXHAUSTED_MS);
        // A service that hangs may do so only after it has accepted the connections that were waiting. Clients connect again.
        await sleep(EXHAUSTED_MS);
        deployment.balancer.disconnect();
      },
      cleanUp: (deployment) => deployment.rollService(),
    },
    // PostgreSQL's own error for a full disk, raised where the row is written.
    ofDatabase('database full', async (deployment) => {
      await runAsAdministrator(
        deployment,
        `CREATE FUNCTION pg_temp_disk_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
        'CREATE TRIGGER disk_full BEFORE INSERT ON pets.pets FOR EACH ROW EXECUTE FUNCTION pg_temp_disk_full()',
      );
      await sleep(outageMs / 4);
      await runAsAdministrator(deployment, 'DROP TRIGGER disk_full ON pets.pets', 'DROP FUNCTION pg_temp_disk_full()');
    }),
    { name: 'slow headers and bodies', mayDrop: false, run: ({ service }) => sendSlowly(service.url, outageMs / 2) },
    {
      name: 'unread pipelined responses',
      mayDrop: false,
      run: ({ service, keys: [key = ''] }) => leaveResponsesUnread(service.url, key, outageMs / 4),
    },
    { name: 'header floods', mayDrop: false, run: ({ service }) => floodHeaders(service.url, outageMs / 4) },
    {
      name: 'clock jumps',
      mayDrop: false,
      run: async (deployment) => {
        for (let jump = 0; jump < CLOCK_JUMPS; jump++) {
          deployment.jumpClock();
          await sleep(outageMs / 8);
        }
      },
    },
  ];
}

/** A fault after whose end the service promises to recover in time, and which it survives itself. */
function ofDatabase(name: string, run: Fault['run']): Fault {
  return { name, mayDrop: false, recoversWithinMs: DATABASE_RECOVERY_MS, run };
}

/** Sets a setting of the database as its administrator, so that all sessions are opened again with it. */
function setting(name: string, value: string, during: (deployment: Deployment) => Promise<void>): Fault {
  return ofDatabase(`${name} = ${value}`, async (deployment) => {
    await runAsAdministrator(deployment, `ALTER DATABASE animal_store SET ${name} = '${value}'`, TERMINATE_SESSIONS);
    try {
      await during(deployment);
    } finally {
      await runAsAdministrator(deployment, `ALTER DATABASE animal_store RESET ${name}`, TERMINATE_SESSIONS);
    }
  });
}

const TERMINATE_SESSIONS =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

/** Returns the rows of the last statement. */
function runAsAdministrator<Row extends object>({ postgres }: Deployment, ...statements: string[]): Promise<Row[]> {
  const url = new URL(postgres.url);
  // Not the settings of the database.
  const options = '-c default_transaction_read_only=off -c lock_timeout=0 -c idle_session_timeout=0 -c synchronous_commit=on';
  url.searchParams.set('options', options);
  return query<Row>(url.href, ...statements);
}
