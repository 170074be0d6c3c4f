import { DurablePostgres, TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BatchedRepository } from '../batching/batched-repository.js';
import { Database } from '../database.js';
import { FakeServer, UNKNOWN_LOGIN } from '../testing/fake-server.js';
import type { Replicas } from './replicas.js';

@Entity({ schema: 'public', name: 'things' })
class ThingEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: bigint;

  @Column('text')
  name!: string;
}

/** `beforeAll` starts two servers and restarts the primary, and `afterAll` stops both servers. */
const START_TIMEOUT_MS = 120_000;
const RECOVERY_TIMEOUT_MS = 20_000;

let primary: DurablePostgres;
let standby: DurablePostgres;
let network: TcpProxy;
let unknownLogin: FakeServer;
let onPrimary: Client;
let onStandby: Client;

async function connect({ url }: { readonly url: string }): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

beforeAll(async () => {
  primary = await DurablePostgres.start();
  standby = await primary.addStandby();
  network = await TcpProxy.start(standby.url);
  unknownLogin = await FakeServer.start({ asksFor: UNKNOWN_LOGIN });
  [onPrimary, onStandby] = [await connect(primary), await connect(standby)];
  await onPrimary.query('CREATE TABLE public.things (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)');
}, START_TIMEOUT_MS);

afterAll(async () => {
  await onPrimary.end();
  await onStandby.end();
  await network.cut();
  unknownLogin.close();
  await standby.remove();
  await primary.remove();
}, START_TIMEOUT_MS);

interface Process {
  readonly things: BatchedRepository<ThingEntity>;
  readonly replicas: Replicas;
  /** The server of each list, in order. */
  readonly servers: readonly string[];
  /** Each change of a replica's state. */
  readonly changes: readonly (string | undefined)[];
}

const opened: Database[] = [];

/** Opens a repository as a process of the service does. */
async function open(): Promise<Process> {
  const dataSource = new Database({
    url: primary.url,
    replicaUrls: [network.url],
    applicationName: 'spec',
    poolSize: 3,
    statementTimeoutMs: 10_000,
    persistence: [{ schema: 'public', entities: [ThingEntity], migrations: [] }],
  });
  const replicas = dataSource.replicas as Replicas;
  const servers: string[] = [];
  const changes: (string | undefined)[] = [];
  replicas.observe({ read: (servedBy) => servers.push(servedBy), changed: (_name, problem) => changes.push(problem) });
  await dataSource.open();
  opened.push(dataSource);
  return { things: new BatchedRepository(dataSource.getRepository(ThingEntity)), replicas, servers, changes };
}

afterEach(async () => {
  await onStandby.query('SELECT pg_wal_replay_resume()');
  await network.restore().catch(() => undefined);
  for (const connection of opened.splice(0)) await connection.close();
});

const problemOf = ({ replicas }: Process) => [...replicas.problems.values()][0];

async function lastPage({ things }: Process, after: bigint): Promise<string> {
  return (await things.page({}, { limit: 100, after: { id: after } })).json.text;
}

/** Resolves when a list was served by the replica. Retries, because a busy machine may be late. */
async function servedByReplica(process: Process): Promise<void> {
  await waitFor(
    async () => {
      await lastPage(process, 0n);
      expect(process.servers.at(-1)).toBe('replica');
    },
    { timeoutMs: RECOVERY_TIMEOUT_MS },
  );
}

describe('a replica', () => {
  it.each([
    ['rejects connections', () => network.cut()],
    ['is silent', () => Promise.resolve(network.slowDown(60_000))],
    ['asks for a login that the client does not know', () => Promise.resolve(network.redirectTo(unknownLogin.address))],
  ])('that is lost and %s is excluded without a failed list, and is used again later', async (_how, lose) => {
    const process = await open();
    await servedByReplica(process);
    await lose();
    const {
      result: { id },
    } = await process.things.add({ name: 'while it is lost' });
    for (let list = 0; list < 5; list++) expect(await lastPage(process, id - 1n)).toContain('while it is lost');
    expect(problemOf(process)).toBeDefined();
    network.slowDown(0);
    network.redirectTo(new URL(standby.url).host);
    await network.restore().catch(() => undefined);
    await servedByReplica(process);
  });
});
