import { unknownKey } from '../support/keys.js';
import { runAnimalStore, runUntilExit, Service } from '../support/service.js';
import { findFreePort, query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Outage } from '../support/outage.js';

let outage: Outage;

describe('a process started without its database', () => {
  let service: Service;

  beforeAll(async () => {
    outage = await Outage.prepare();
    outage.proxy.slowDown(600_000);
    service = await outage.start();
  });
  afterAll(() => outage.end());

  it('waits for a database that does not respond, and then cannot be reached', async () => {
    await outage.expectWaiting();
    await outage.proxy.cut();
    outage.proxy.slowDown(0);
    await outage.expectWaiting();
  });

  it('serves when the database is back, and has logged one line for each', async () => {
    await outage.proxy.restore();
    await outage.expectServing();
    await waitFor(() => expect(outage.count('connected to the database')).toBeGreaterThanOrEqual(1));
    // On a busy machine, the process may lose its first connection to the timeout.
    await waitFor(() => expect(outage.count('connected to the database')).toBe(outage.count('cannot be used')));
  });

  it('serves again after a later outage', async () => {
    const key = await outage.expectServing();
    await outage.proxy.cut();
    await outage.expectUnavailable(key);
    // Not 401 either, unless the database is not needed to reject a key.
    await outage.expectUnavailable(unknownKey(key));
    expect(await outage.get('/v1/pets', `${key}x`)).toMatchObject({ status: 401, code: 'invalid_api_key' });
    await outage.proxy.restore();
    await outage.expectServing();
  });

  it('exits with code 0 after a SIGTERM during an outage', async () => {
    await outage.proxy.cut();
    expect(await service.stop()).toBe(0);
  });
});

describe('a single process', () => {
  beforeEach(async () => {
    outage = await Outage.prepare();
  });
  afterEach(() => outage.end());

  it('responds after a SIGTERM during its first connection attempt', async () => {
    outage.proxy.slowDown(600_000);
    const environment = { DATABASE_URL: outage.proxy.url, DATABASE_CONNECT_TIMEOUT_MS: '60000', DRAIN_SECONDS: '60' };
    const service = (outage.service = Service.startOn(await findFreePort(), environment));
    await waitFor(async () => expect((await outage.get('/health/live')).status).toBe(200));
    const stopped = service.stop('SIGTERM');
    await waitFor(() => expect(outage.count('"draining"')).toBe(1));
    expect(outage.count('"listening"')).toBe(0);
    expect((await outage.get('/health/live')).status).toBe(200);
    await service.stop('SIGINT');
    expect(await stopped).toBe(0);
  });

  it('waits for a database that rejects the login, at the start and later', async () => {
    const { database } = outage;
    const role = `late_${process.pid}`;
    await query(
      database.url,
      `CREATE ROLE ${role} LOGIN PASSWORD 'another one'`,
      `ALTER DATABASE ${nameOf(database.url)} OWNER TO ${role}`,
    );
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'secret' });
    const service = await outage.start({}, url.href);
    await outage.expectWaiting();
    expect(outage.count('cannot be used: password authentication failed')).toBe(1);
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'secret'`);
    const key = await outage.expectServing();
    await waitFor(() => expect(outage.count('connected to the database')).toBe(1));
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'changed'`);
    // Repeated, because a connection that was logging in with the old password appears later.
    await waitFor(async () => {
      await query(database.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
      expect((await outage.get('/v1/pets', key)).status).toBe(503);
    });
    await outage.expectUnavailable(key);
    await query(database.url, `ALTER ROLE ${role} PASSWORD 'secret'`);
    await waitFor(async () => expect((await outage.get('/v1/pets', key)).status).toBe(200));
    expect(service.output).not.toContain('secret');
    await service.stop();
    await query(database.url, `ALTER DATABASE ${nameOf(database.url)} OWNER TO CURRENT_USER`, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  });

  it('waits for a database that does not exist yet, and without migrating until another process has migrated it', async () => {
    const { database } = outage;
    const url = new URL(database.url);
    const name = `${nameOf(database.url)}_late`;
    url.pathname = name;
    const service = await outage.start({ MIGRATE_ON_START: 'false' }, url.href);
    await outage.expectWaiting();
    expect(outage.count('does not exist')).toBe(1);
    await query(database.url, `CREATE DATABASE ${name}`);
    await waitFor(() => expect(outage.count('connected to the database')).toBe(1));
    expect((await outage.get('/health/ready')).status).toBe(503);
    await runAnimalStore(url.href, 'migrate', 'up');
    await outage.expectServing(url.href);
    await service.stop();
    await query(database.url, `DROP DATABASE ${name} WITH (FORCE)`);
  });

  it('exits with code 0 after a SIGTERM while it waits for its first connection', async () => {
    await outage.proxy.cut();
    const service = await outage.start();
    expect(await service.stop()).toBe(0);
  });
});

describe('exits with code 1', () => {
  beforeAll(async () => {
    outage = await Outage.prepare();
  });
  afterAll(() => outage.end());

  it('a single process waiting for another migrating process, after MIGRATION_WAIT_SECONDS, and logs it', () =>
    outage.expectEndOfMigrationWait());

  it.each([{}, { MIGRATE_ON_START: 'false' }])('with an invalid setting, immediately: %o', async (environment) => {
    const DATABASE_URL = `${outage.database.url}?sslmode=none`;
    const { exitCode, output } = await runUntilExit({ DATABASE_URL, PORT: '0', ...environment });
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^DATABASE_URL must have an sslmode of /m);
  });
});

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
