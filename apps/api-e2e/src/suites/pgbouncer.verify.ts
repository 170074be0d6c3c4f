import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { createKey, Service } from '../support/service.js';
import { createTestDatabase, query, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEBIAN_PATH, DebianServer } from '../support/debian-server.js';

// `npm run verify -- pgbouncer`. Not part of `npm test`, since the npm registry has no PgBouncer. In transaction mode from 1.21 on, which
// tracks named statements.

/** As in docs/operations.md. */
const IGNORED =
  'IntervalStyle, array_nulls, bytea_output, default_transaction_isolation, exit_on_error, extra_float_digits, idle_in_transaction_session_timeout, idle_session_timeout, lock_timeout, search_path, statement_timeout';

let folder: string;
let database: TestDatabase;
let pooler: DebianServer;
let service: Service | undefined;
let poolerUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { stdout } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8', env: { PATH: DEBIAN_PATH } });
  const [, minor] = /1\.(\d+)/.exec(stdout) ?? [];
  const mode = Number(minor) < 21 ? ['pool_mode = session'] : ['pool_mode = transaction', 'max_prepared_statements = 200'];
  folder = await mkdtemp(join(tmpdir(), 'animal-store-pgbouncer-'));
  await chmod(folder, 0o755);
  const { hostname, port, username, password, pathname } = new URL(database.url);
  pooler = await DebianServer.start({
    program: 'pgbouncer',
    args: async (ownPort) => {
      const file = join(folder, 'pgbouncer.ini');
      const lines = [
        '[databases]',
        `* = host=${hostname} port=${port} user=${username} password=${password}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${ownPort}`,
        'unix_socket_dir =',
        'auth_type = any',
        ...mode,
        'default_pool_size = 40',
        'server_reset_query = DISCARD ALL',
        `ignore_startup_parameters = ${IGNORED}`,
      ];
      await writeFile(file, lines.join('\n'));
      return [file];
    },
  });
  poolerUrl = `postgres://anybody@127.0.0.1:${pooler.port}${pathname}`;
});

afterAll(async () => {
  await service?.stop('SIGKILL');
  await pooler.stop();
  await rm(folder, { recursive: true });
  await database.drop();
});

it('the service behind a pooler refuses sessions with other settings, and serves after the ALTER ROLE that it logs', async () => {
  // The role of the server is shared, so the settings are those of the database.
  const name = new URL(database.url).pathname.slice(1);
  await query(database.url, `ALTER DATABASE "${name}" SET statement_timeout = 3000`);
  const { url } = (service = await Service.start(poolerUrl, { MIGRATION_DATABASE_URL: database.url, RATE_LIMIT: '0' }));
  const statements = await waitFor(() => {
    const [, found] = /: run (ALTER ROLE .*;) and restart the pooler/.exec((service as Service).output.replaceAll('\\"', '"')) ?? [];
    if (found === undefined) throw new Error('not logged yet');
    return found;
  });
  expect(statements).toContain("SET search_path = 'pg_catalog'");
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  await query(database.url, ...statements.split('; ').map((statement) => statement.replace(/ROLE "\w+"/, `DATABASE "${name}"`)));
  await query(database.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`);
  await waitFor(async () => expect((await fetch(`${url}/health/ready`)).status).toBe(200));

  const api = new Api();
  api.open({ baseUrl: url, key: (await createKey(database.url, 'suite')).key });
  const created = await Promise.all(Array.from({ length: 100 }, (_, n) => api.createPet({ name: `Pet ${n}` })));
  const ids = new Set((await api.readAllPages('/v1/pets?limit=100')).map(({ id }) => id));
  expect(created.filter(({ id }) => !ids.has(id))).toEqual([]);
  api.close();
});
