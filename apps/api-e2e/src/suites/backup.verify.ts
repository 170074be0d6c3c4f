import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { linksOf } from '../support/http-response.js';
import { type Pet, readPet, readPets } from '../support/json.js';
import { createKey, Service } from '../support/service.js';
import { query, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DebianPostgres } from '../support/debian-postgres.js';

// `npm run verify -- backup` tests the backups of docs/operations.md. Not part of `npm test`, since node_modules has no pg_dump.

const WRITERS = 8;
const CREATIONS = 200;
/** Same statement as in docs/operations.md. */
const SKIP_IDS = `SELECT setval(pg_get_serial_sequence('pets.pets', 'id'), nextval(pg_get_serial_sequence('pets.pets', 'id')) + 1000000)`;

interface Created {
  readonly pet: Pet;
  readonly body: string;
  readonly idempotencyKey: string;
}

let postgres: DebianPostgres;
let primaryUrl: string;
let archive: string;
let apiKey: string | undefined;
const services: Service[] = [];
const apis: Api[] = [];

beforeAll(async () => {
  postgres = await DebianPostgres.find();
  archive = await postgres.makeFolder('archive');
  await postgres.initialise('primary');
  primaryUrl = await postgres.start('primary', ['archive_mode=on', `archive_command=cp %p ${archive}/%f`]);
  await query(`${primaryUrl}/postgres`, 'CREATE DATABASE store');
});

afterAll(async () => {
  for (const api of apis) api.close();
  for (const service of services) await service.stop('SIGKILL');
  // Undefined if PostgreSQL was not found.
  await (postgres as DebianPostgres | undefined)?.remove();
});

async function serve(databaseUrl: string): Promise<Api> {
  const service = await Service.start(databaseUrl, { RATE_LIMIT: '0' });
  services.push(service);
  apiKey ??= (await createKey(databaseUrl, 'suite')).key;
  const api = new Api();
  api.open({ baseUrl: service.url, key: apiKey });
  apis.push(api);
  return api;
}

/** Clients that each add one pet after the other, with idempotency keys, until stopped. */
class Load {
  readonly confirmed: Created[] = [];
  private isStopped = false;
  private readonly writers: Promise<unknown>;
  private static next = 0;

  constructor(private readonly api: Api) {
    this.writers = Promise.all(Array.from({ length: WRITERS }, () => this.write()));
    this.writers.catch(() => undefined);
  }

  more(count: number): Promise<void> {
    const goal = this.confirmed.length + count;
    return waitFor(() => expect(this.confirmed.length).toBeGreaterThanOrEqual(goal));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.writers;
  }

  private async write(): Promise<void> {
    while (!this.isStopped) {
      const idempotencyKey = `backup-${Load.next++}`;
      const body = `{"name":"${idempotencyKey}","categoryId":9007199254740993}`;
      const response = await this.api.create(body, { headers: { 'idempotency-key': idempotencyKey } });
      expect(response.status).toBe(201);
      this.confirmed.push({ pet: readPet(response.text), body, idempotencyKey });
    }
  }
}

/** Expects that each confirmed pet exists and that its idempotency key replays it. Returns all pets by id. */
async function expectRestored(api: Api, confirmedCreations: readonly Created[]): Promise<ReadonlyMap<Pet['id'], Pet>> {
  const pets = await api.readAllPages('/v1/pets?limit=100');
  const byId = new Map(pets.map((pet) => [pet.id, pet]));
  expect(byId.size).toBe(pets.length);
  expect(confirmedCreations.filter(({ pet }) => byId.get(pet.id)?.name !== pet.name)).toEqual([]);
  for (const { pet, body, idempotencyKey } of confirmedCreations) {
    const replay = await api.create(body, { headers: { 'idempotency-key': idempotencyKey } });
    expect([replay.status, replay.headers['idempotent-replayed'], readPet(replay.text)]).toEqual([201, 'true', pet]);
  }
  return byId;
}

/** Expects that new pets get ids that no response contained before. */
async function expectNewIds(api: Api, knownIds: ReadonlySet<Pet['id']>): Promise<void> {
  const created = await Promise.all(Array.from({ length: 50 }, (_, n) => api.createPet({ name: `new ${n}` })));
  expect(new Set(created.map(({ id }) => id)).size).toBe(created.length);
  expect(created.filter(({ id }) => knownIds.has(id))).toEqual([]);
}

const KEYS_WITHOUT_PET = `SELECT key FROM pets.idempotency_keys LEFT JOIN pets.pets ON pets.id = pet_id WHERE pets.id IS NULL`;

describe('while clients add pets', () => {
  it('a dump restores all pets confirmed before it started, with idempotency keys and cursors', async () => {
    const api = await serve(`${primaryUrl}/store`);
    const load = new Load(api);
    await load.more(CREATIONS);
    const confirmedCreations = [...load.confirmed];
    const firstPage = await api.follow('/v1/pets?limit=10');
    const [cursorLink = ''] = linksOf(firstPage, 'next');
    const dump = join(postgres.folder, 'store.dump');
    await postgres.runOn(primaryUrl, 'pg_dump', '--format=custom', '--file', dump, '--dbname=store');
    await load.more(WRITERS);
    await load.stop();
    expect(load.confirmed.length).toBeGreaterThan(confirmedCreations.length);

    await postgres.runOn(primaryUrl, 'createdb', 'restored');
    await postgres.runOn(primaryUrl, 'pg_restore', '--exit-on-error', '--no-owner', '--dbname=restored', dump);
    await query(`${primaryUrl}/restored`, SKIP_IDS);
    expect(await query(`${primaryUrl}/restored`, KEYS_WITHOUT_PET)).toEqual([]);
    const restored = await serve(`${primaryUrl}/restored`);
    const byId = await expectRestored(restored, confirmedCreations);
    const continued = await restored.readAllPages(cursorLink);
    expect([...readPets(firstPage.text), ...continued].map(({ id }) => id)).toEqual([...byId.keys()]);
    await expectNewIds(restored, new Set([...load.confirmed.map(({ pet }) => pet.id), ...byId.keys()]));
  });

  it('a base backup and the archived WAL restore to a point in time', async () => {
    const api = await serve(`${primaryUrl}/store`);
    const load = new Load(api);
    await load.more(CREATIONS / 2);
    await postgres.runOn(primaryUrl, 'pg_basebackup', '--pgdata', join(postgres.folder, 'standby'), '--checkpoint=fast');
    await load.more(CREATIONS / 2);
    const confirmedCreations = [...load.confirmed];
    const [row] = await query(`${primaryUrl}/store`, `SELECT clock_timestamp()::text AS time`);
    await load.more(WRITERS);
    await query(`${primaryUrl}/store`, 'DELETE FROM pets.pets');
    await load.stop();
    for (const service of services) await service.stop();
    await postgres.stop('primary');

    const standby = join(postgres.folder, 'standby');
    const recovery = [
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_time = '${String(row?.['time'])}'`,
      `recovery_target_action = 'promote'`,
    ];
    await appendFile(join(standby, 'postgresql.auto.conf'), recovery.map((line) => `${line}\n`).join(''));
    await writeFile(join(standby, 'recovery.signal'), '');
    const url = await postgres.start('standby', ['archive_mode=off']);
    await waitFor(async () => expect(await query(`${url}/store`, 'SELECT pg_is_in_recovery() AS recovers')).toEqual([{ recovers: false }]));
    await query(`${url}/store`, SKIP_IDS);
    expect(await query(`${url}/store`, KEYS_WITHOUT_PET)).toEqual([]);
    const restored = await serve(`${url}/store`);
    const byId = await expectRestored(restored, confirmedCreations);
    await expectNewIds(restored, new Set([...load.confirmed.map(({ pet }) => pet.id), ...byId.keys()]));
  });
});
