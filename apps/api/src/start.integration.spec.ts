import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, MigrationError } from '@animal-store/database';
import { defineContext } from '@animal-store/http-kit';
import { query, TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Client } from 'pg';
import { Gauge, register } from 'prom-client';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { type Context, contexts } from './registered-contexts.js';
import { useTestApp } from './http/testing/test-app.js';
import { CLOSE_TIMEOUT_MS, FINISH_TIMEOUT_MS } from './config/config.js';
import { explain } from './config/startup-errors.js';
import { type RunningService, start, StartupError } from './start.js';

const CLOSED = 'postgres://127.0.0.1:1/store';
const FILE = join(tmpdir(), `start-spec-${process.pid}`);

/** Only for its database and key. */
const other = useTestApp(['pets:read']);
const services: RunningService[] = [];
let env: Readonly<Record<string, string>>;

beforeAll(() => {
  env = { NODE_ENV: 'test', DATABASE_URL: other.databaseUrl, DATABASE_STATEMENT_TIMEOUT_MS: '0', PORT: '0', LOG_LEVEL: 'silent' };
});
afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await rm(FILE, { force: true });
});

async function run(variables: object, contexts?: readonly Context[]): Promise<RunningService> {
  const service = await start({ ...env, ...variables }, contexts);
  services.push(service);
  return service;
}

const get = async (path: string, { url } = services[0] as RunningService) => {
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${other.key}`, Connection: 'close' } });
  await response.arrayBuffer();
  return response.status;
};

describe('the start', () => {
  it('serves when it is ready', async () => {
    const { ready } = await run({});
    await ready;
    expect([await get('/health/ready'), await get('/v1/pets')]).toEqual([200, 200]);
  });

  // Promise (Starting and stopping): While the database is unavailable, even on startup, requests get a 503. No restart is required afterwards.
  it('retries while the database is away or the file with its URL is missing, and migrates and serves afterwards', async () => {
    const open = jest.spyOn(Database.prototype, 'open');
    const proxy = await TcpProxy.start(other.databaseUrl);
    await proxy.cut();
    await writeFile(FILE, proxy.url);
    const { ready } = await run({ DATABASE_URL: undefined, DATABASE_URL_FILE: FILE, MIGRATE_ON_START: 'false' });
    expect([await get('/health/live'), await get('/health/ready'), await get('/v1/pets')]).toEqual([200, 503, 503]);
    await rm(FILE);
    // Once a second: with a delay that doubles each time, the tenth attempt would be after 51 s.
    await waitFor(() => expect(open.mock.calls.length).toBeGreaterThan(9));
    expect(await get('/health/live')).toBe(200);
    await writeFile(FILE, other.databaseUrl);
    await ready;
    expect(await get('/v1/pets')).toBe(200);
    await proxy.cut();
  });

  it('waits for migrations that another process applies', async () => {
    await query(other.databaseUrl, 'ALTER TABLE schema_migrations RENAME TO hidden');
    const { ready } = await run({ MIGRATE_ON_START: 'false' });
    await waitFor(async () => expect([await get('/health/live'), await get('/health/ready')]).toEqual([200, 503]));
    await query(other.databaseUrl, 'ALTER TABLE hidden RENAME TO schema_migrations');
    await ready;
    expect(await get('/health/ready')).toBe(200);
  });

  describe('with a migration', () => {
    /** Starts with a further migration, which first executes `statement`, and succeeds when it is repeated. */
    async function migrate(statement: string, env = {}): Promise<number> {
      let attempts = 0;
      class AddFurther1900000000000 implements MigrationInterface {
        async up(queryRunner: QueryRunner): Promise<void> {
          attempts++;
          await queryRunner.query(attempts === 1 ? statement : 'SELECT 1');
        }

        async down(): Promise<void> {
          await Promise.reject(new Error('not needed'));
        }
      }
      class Further {}
      Module({})(Further);
      const persistence = { schema: 'further', entities: [], migrations: [AddFurther1900000000000] };
      const { ready } = await run(env, [...contexts, defineContext({ module: Further, persistence })]);
      await ready;
      await query(other.databaseUrl, `DELETE FROM schema_migrations WHERE name = '${AddFurther1900000000000.name}'`);
      return attempts;
    }

    it('that fails because of its statement, ends with the statement and the error, and leaves no connection', async () => {
      const error = await migrate('SELECT 1 / 0').catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StartupError);
      expect((error as StartupError).message).toMatch(/division by zero\nin the statement SELECT 1 \/ 0$/);
      const sessions = "SELECT FROM pg_stat_activity WHERE application_name = 'animal-store-migrations' AND datname = current_database()";
      await waitFor(async () => expect(await query(other.databaseUrl, sessions)).toEqual([]));
    });

    it('uses MIGRATION_DATABASE_URL', async () => {
      const MIGRATION_DATABASE_URL = `${other.databaseUrl}?options=-c%20work_mem=7MB`;
      expect(await migrate(`SELECT 1 / (current_setting('work_mem') = '7MB')::int`, { MIGRATION_DATABASE_URL })).toBe(1);
    });

    // error-meaning.spec.ts of libs/database has all codes.
    it('that waits too long for a lock is repeated', async () => {
      expect(await migrate(`DO $$ BEGIN RAISE EXCEPTION 'later' USING ERRCODE = '55P03'; END $$`)).toBe(2);
    });
  });

  it('ends while it waits for the database', async () => {
    const service = await run({ DATABASE_URL: CLOSED });
    await service.close();
    await service.ready;
    await expect(get('/health/live')).rejects.toThrow('fetch failed');
  });

  it('fails if a metric of a context has the name of another one', async () => {
    new Gauge({ name: 'service_ready', help: 'Of a context.' });
    await expect(run({})).rejects.toThrow('service_ready');
    register.clear();
  });
});

describe('a port or address that cannot be used', () => {
  let holder: Server;
  const taken = () => String((holder.address() as AddressInfo).port);

  beforeAll(async () => {
    holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
  });
  afterAll(() => void holder.close());

  it.each([
    [() => ({ PORT: taken() }), /^listen EADDRINUSE: [^\n]*: set HOST and PORT to a free port of this machine\.$/],
    [() => ({ ADMIN_PORT: taken() }), /^listen EADDRINUSE: [^\n]*: set ADMIN_HOST and ADMIN_PORT to a free port of this machine\.$/],
    [() => ({ HOST: 'api.invalid' }), /^getaddrinfo [^\n]* api\.invalid: set HOST /],
  ])('fails with one line, and leaves nothing open: %s', async (variables, line) => {
    const close = jest.spyOn(Database.prototype, 'close');
    await expect(run(variables())).rejects.toThrow(line);
    expect(close).toHaveBeenCalledTimes(1);
  });
});

describe('stopping', () => {
  it('closes the connections on which metrics are requested', async () => {
    const service = await run({ DATABASE_URL: CLOSED, ADMIN_PORT: '0' });
    const { admin } = service as unknown as { admin: Server };
    const socket = connect((admin.address() as AddressInfo).port);
    socket.write('GET /metrics HTTP/1.1\r\n');
    await once(admin, 'connection');
    await service.close();
    // A reset, if the process has not read the request.
    await once(socket, 'close').catch(() => undefined);
  });

  it('cuts off requests that have not finished after 15 seconds', async () => {
    const service = await run({});
    await service.ready;
    const holder = new Client({ connectionString: other.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
    let outcome: unknown;
    const response = get('/v1/pets').then(
      () => (outcome = 'finished'),
      () => (outcome = 'cut'),
    );
    const waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'pets.pets'::regclass";
    await waitFor(async () => expect((await holder.query(waiting)).rowCount).toBe(1));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'performance', 'setImmediate', 'setInterval', 'Date'] });
    const stopped = service.close();
    await jest.advanceTimersByTimeAsync(FINISH_TIMEOUT_MS - 1);
    await expect(get('/health/live')).rejects.toThrow('fetch failed');
    expect(outcome).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(await response).toBe('cut');
    await jest.advanceTimersByTimeAsync(CLOSE_TIMEOUT_MS);
    await stopped;
    await holder.end();
  });
});

describe('explain', () => {
  const failure = (code: string, message = '') => Object.assign(new Error(message), { code });
  const url = 'postgres://store:secret@db.example/store';

  it.each([
    [new MigrationError('it is locked'), 'The migrations were not applied: it is locked'],
    [failure('25006', 'cannot execute CREATE TABLE'), 'cannot be used: cannot execute CREATE TABLE'],
    [failure('57014', 'canceling statement due to statement timeout'), 'cannot be used: canceling statement due to statement timeout'],
    [failure('ECONNREFUSED'), 'cannot be used: ECONNREFUSED'],
    [failure('28P01', 'password authentication failed\nfor nobody'), 'cannot be used: password authentication failed'],
  ])('explains %o in one line', (error, line) => {
    const text = line.startsWith('cannot') ? `The database at db.example:5432 ${line}` : line;
    expect(explain(error, url)).toEqual(new StartupError(text));
  });

  it('names the file while the file with the URL is missing', () => {
    expect(explain(failure('ECONNREFUSED'), { file: FILE })).toEqual(
      new StartupError(`The database at the URL in ${FILE} cannot be used: ECONNREFUSED`),
    );
  });

  it('returns other errors unchanged', () => {
    const error = new TypeError('x is not a function');
    expect(explain(error, url)).toBe(error);
  });
});
