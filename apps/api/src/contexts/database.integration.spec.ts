import { appendEvents, currentManager, Database, EventSubscription, ForwardMigration, OnEvent } from '@animal-store/database';
import { defineContext, Public } from '@animal-store/http-kit';
import { defineEvent } from '@animal-store/kernel';
import { TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { secret, Settings, text } from '@animal-store/kernel/settings';
import { Controller, Get, Injectable, Logger, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Client } from 'pg';
import { Column, DataSource, Entity, EntityManager, PrimaryGeneratedColumn, type QueryRunner, type Repository } from 'typeorm';
import { contexts } from '../registered-contexts.js';
import { createLogger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { startTestApp, type TestApp, useTestApp } from '../http/testing/test-app.js';

const SCOPES = ['pets:read', 'pets:write'];
type KeyedApp = TestApp & { readonly key: string };

const get = async ({ url, key }: KeyedApp, path = '/v1/pets') => {
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.text() };
};
const create = async ({ url, key }: KeyedApp, name: string) => {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) });
  return { status: response.status, body: await response.text() };
};
const statuses = (responses: readonly { status: number }[]) => responses.map(({ status }) => status);

describe('a service', () => {
  let database: Client;
  // Jest runs afterAll hooks in order: this connection ends before the service drops its database.
  afterAll(() => database.end());
  const service = useTestApp(SCOPES);
  beforeAll(async () => {
    database = new Client({ connectionString: service.databaseUrl });
    await database.connect();
  });

  // First, because it shows identifiers.
  it('continues to work after migrations of the next release have added columns', async () => {
    const authorization = `Bearer ${service.key}`;
    const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
      const response = await fetch(service.url + path, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body }),
      });
      return `${String(response.status)} ${await response.text()}`;
    };
    const pet = (id: number) => `{"id":${String(id)},"name":"Rex","categoryId":7,"status":"sold"}`;
    const body = '{"name":"Rex","categoryId":7,"status":"sold"}';
    const useAll = async (first: number) => {
      const key = { 'idempotency-key': `key-${String(first)}` };
      expect(await send('POST', '/v1/pets', {}, body)).toBe(`201 ${pet(first)}`);
      expect(await send('POST', '/v1/pets', key, body)).toBe(`201 ${pet(first + 1)}`);
      expect(await send('POST', '/v1/pets', key, body)).toBe(`201 ${pet(first + 1)}`);
      expect(await send('GET', `/v1/pets/${String(first)}`)).toBe(`200 ${pet(first)}`);
      const expectedIds = Array.from({ length: first + 1 }, (_, n) => n + 1);
      expect(await send('GET', '/v1/pets?status=sold')).toBe(`200 [${expectedIds.map(pet).join()}]`);
      expect(await send('GET', '/health/ready')).toBe('200 {"status":"ok"}');
    };

    // After this, the connections have prepared statements.
    await useAll(1);
    for (const table of ['pets.pets', 'pets.idempotency_keys', 'access.clients', 'access.api_keys']) {
      await database.query(`ALTER TABLE ${table} ADD COLUMN added_later text NOT NULL DEFAULT 'x'`);
    }
    await database.query(`INSERT INTO schema_migrations (timestamp, name) VALUES (9999999999999, 'AddLater9999999999999')`);
    await useAll(3);
  });

  const terminate = () =>
    database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'animal-store-api' AND datname = current_database()`,
    );

  it('reads if the database closes all connections', async () => {
    for (let i = 0; i < 5; i++) {
      expect(statuses(await Promise.all([get(service), get(service), get(service)]))).toEqual([200, 200, 200]);
      const withUncachedKey = { ...service, key: await service.createKey('pets:read') };
      await terminate();
      expect(statuses(await Promise.all([get(withUncachedKey), get(service), get(service)]))).toEqual([200, 200, 200]);
    }
  });

  it('repeats a pending read, but no pending creation, if the database closes all connections', async () => {
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
      const [read, creation] = [get(service), create(service, 'Lost')];
      await until(2);
      await terminate();
      expect(JSON.parse((await creation).body)).toMatchObject({ code: 'service_unavailable', status: 503 });
      await until(1);
      await other.query('COMMIT');
      expect((await read).status).toBe(200);
      expect((await database.query(`SELECT 1 FROM pets.pets WHERE name = 'Lost'`)).rowCount).toBe(0);
    } finally {
      await other.end();
    }
  });

  it('has metrics of its pool, which distinguish connections that execute a statement from unused ones', async () => {
    const { registry } = service.app.get(Metrics);
    const gauge = async (name: string) => Number((await registry.getSingleMetricAsString(`database_pool_${name}`)).split(' ').at(-1));
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('BEGIN; LOCK TABLE pets.pets IN ACCESS EXCLUSIVE MODE');
      const read = get(service);
      await until(1);
      await waitFor(async () => expect((await gauge('connections')) - (await gauge('idle'))).toBe(1));
      await other.query('COMMIT');
      await read;
      await waitFor(async () => expect(await gauge('idle')).toBe(await gauge('connections')));
    } finally {
      await other.end();
    }
  });

  /** Waits until this number of statements waits for the lock. */
  async function until(waiting: number): Promise<void> {
    const query = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'animal-store-api' AND datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect((await database.query(query)).rowCount).toBe(waiting));
  }
});

describe('responds with 503, and recovers afterwards', () => {
  let proxy: TcpProxy;
  const service = useTestApp(SCOPES, {
    env: { DATABASE_STATEMENT_TIMEOUT_MS: '1000', DATABASE_CONNECT_TIMEOUT_MS: '2000', DATABASE_POOL_SIZE: '3' },
    databaseUrl: async (given) => (proxy = await TcpProxy.start(given)).url,
  });
  afterAll(() => proxy.cut());

  const waitUntilServing = () =>
    waitFor(async () => {
      const responses = await Promise.all([get(service), get(service, '/health/ready'), create(service, 'Rex')]);
      expect(statuses(responses)).toEqual([200, 200, 201]);
    });

  it('if the database rejects connections', async () => {
    await proxy.cut();
    for (const response of await Promise.all([get(service), get(service, '/v1/pets/1'), get(service, '/health/ready')])) {
      expect(response).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^[1-9][0-9]*$/) });
      expect(JSON.parse(response.body)).toEqual({ code: 'service_unavailable', message: expect.any(String), status: 503 });
    }
    expect((await create(service, 'Rex')).status).toBe(503);
    expect((await get(service, '/health/live')).status).toBe(200);
    await proxy.restore();
    await waitUntilServing();
  });

  it('if the database does not respond', async () => {
    expect(service.app.get(Database).settings).toMatchObject({ connectTimeoutMs: 2_000, statementTimeoutMs: 1_000, poolSize: 3 });
    await waitUntilServing();
    proxy.slowDown(60_000);
    // More than the pool size: some time out in a statement, the others while waiting for a connection.
    const responses = await Promise.all(Array.from({ length: 9 }, () => get(service, '/v1/pets/1')));
    expect(new Set(statuses(responses))).toEqual(new Set([503]));
    proxy.slowDown(0);
    await waitUntilServing();
  });
});

const OrderPlaced = defineEvent('orders.order_placed', 'orderId', { orderId: 'int64' });

const handled: bigint[] = [];

@Injectable()
@EventSubscription('followers')
class Followers {
  constructor(private readonly dataSource: DataSource) {}

  @OnEvent(OrderPlaced)
  async placed({ orderId }: { readonly orderId: bigint }): Promise<void> {
    await currentManager(this.dataSource).query("UPDATE access.clients SET name = name WHERE name = 'spec'");
    handled.push(orderId);
  }
}

@Module({ providers: [Followers] })
class FollowerModule {}

const followers = defineContext({
  module: FollowerModule,
  persistence: { schema: 'followers', entities: [], migrations: [] },
  subscriptions: [Followers],
});

class QuotesSettings extends Settings({
  QUOTES_KEY: secret(text)({ desc: 'Key of the quotes.' }),
  QUOTES_NAME: text({ desc: 'Name of the quotes.', default: 'Rex' }),
}) {}

@Entity({ schema: 'quotes', name: 'quotes' })
class QuoteEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: bigint;

  @Column('text')
  quote!: string;
}

class CreateQuotes1763683200000 extends ForwardMigration {
  override async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE SCHEMA quotes');
    await queryRunner.query('CREATE TABLE quotes.quotes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, quote text)');
  }
}

class QuoteSource {
  fetch(): Promise<string> {
    return Promise.reject(new Error('Not in a test.'));
  }
}

@Controller('quotes')
class QuotesController {
  private readonly logger = new Logger('Quotes');

  constructor(
    private readonly settings: QuotesSettings,
    private readonly dataSource: DataSource,
    @InjectRepository(QuoteEntity) private readonly entities: Repository<QuoteEntity>,
    private readonly manager: EntityManager,
    private readonly source: QuoteSource,
  ) {}

  @Public()
  @Get()
  async get(): Promise<void> {
    this.logger.log({ settings: this.settings, length: this.settings.QUOTES_KEY.length }, 'asked');
    const quoted = `'it''s literal', E'it\\'s literal', $q$literal$q$ AS "o'clock" -- 'tis`;
    await this.dataSource.query(`SELECT $1::text, ${quoted}`, ['parameter']);
  }

  @Public()
  @Post()
  async fetch(): Promise<object> {
    await this.entities.save({ quote: await this.source.fetch() });
    return this.manager.find(QuoteEntity);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([QuoteEntity])], controllers: [QuotesController], providers: [QuoteSource] })
class QuotesModule {}

const quotes = defineContext({
  module: QuotesModule,
  persistence: { schema: 'quotes', entities: [QuoteEntity], migrations: [CreateQuotes1763683200000] },
  settings: [QuotesSettings],
});

describe('with one connection', () => {
  const lines: string[] = [];
  let service: TestApp;

  beforeAll(async () => {
    const logger = createLogger('info', { write: (line: string) => void lines.push(line) });
    const env = { DATABASE_POOL_SIZE: '1', LOG_SQL: 'true', QUOTES_KEY: 'quotes-secret' };
    const override = [{ provide: QuoteSource, useValue: { fetch: () => Promise.resolve('Woof') } }];
    service = await startTestApp({ env, logger, contexts: [...contexts, followers, quotes], override });
  });
  afterAll(() => service.close());

  it('responds while an event waits for an open transaction', async () => {
    const other = new Client({ connectionString: service.databaseUrl });
    await other.connect();
    const keyed = { ...service, key: await service.createKey('pets:read', 'pets:write') };
    try {
      await other.query('BEGIN ISOLATION LEVEL READ COMMITTED');
      await other.query("SELECT 1 FROM access.clients WHERE name = 'spec' FOR UPDATE");
      await service.app.get(Database).transaction((manager) => appendEvents(manager, OrderPlaced.of({ orderId: 1n })));
      const attempted = 'SELECT 1 FROM events.deliveries WHERE attempts > 0';
      await waitFor(async () => expect((await other.query(attempted)).rowCount).toBe(1));
      for (let i = 0; i < 3; i++) {
        expect(statuses([await get(keyed), await get(keyed, '/health/ready'), await create(keyed, 'Rex')])).toEqual([200, 200, 201]);
      }
      expect(handled).toEqual([]);
    } finally {
      await other.end();
    }
    await waitFor(() => expect(handled).toEqual([1n]));
  });

  it('logs the id of the request in the lines of a context and of its statements, without secrets and values', async () => {
    await (await fetch(`${service.url}/quotes`, { headers: { 'X-Request-Id': 'quote-1' } })).text();
    await waitFor(() => expect(lines.at(-1)).toContain('"msg":"request"'));
    const logged = lines.filter((line) => line.includes('"requestId":"quote-1"')).map((line) => JSON.parse(line) as object);
    expect(logged).toEqual([
      expect.objectContaining({ level: 30, context: 'Quotes', msg: 'asked', settings: { QUOTES_NAME: 'Rex' }, length: 13 }),
      expect.objectContaining({
        sql: `SELECT $1::text, '…''…', '…', '…' AS "o'clock" -- 'tis`,
        durationMs: expect.any(Number),
        msg: 'statement',
      }),
      expect.objectContaining({ status: 200, msg: 'request' }),
    ]);
    expect(lines.join('')).not.toMatch(/quotes-secret|parameter|literal/);
    // Statements of the background are not logged.
    expect(lines.filter((line) => line.includes('"sql"') && !line.includes('"requestId"'))).toEqual([]);
  });

  it('injects repositories of TypeORM, and replaces providers; while a statement waits for the connection, a metric shows it', async () => {
    const connection = await service.app.get(Database).pool.connect();
    const responded = fetch(`${service.url}/quotes`, { method: 'POST' });
    const waiting = () => service.app.get(Metrics).registry.getSingleMetricAsString('database_pool_waiting');
    await waitFor(async () => expect(await waiting()).toMatch(/ [1-9]\d*$/));
    connection.release();
    const response = await responded;
    expect([response.status, await response.json()]).toEqual([201, [{ id: 1, quote: 'Woof' }]]);
  });

  it('logs once which settings of the database may lose data', () => {
    const warnings = lines.filter((line) => line.includes('fsync = off'));
    expect(warnings).toEqual([expect.stringMatching(/"level":40.*"msg":"the database has fsync = off, full_page_writes = off: /)]);
  });
});
