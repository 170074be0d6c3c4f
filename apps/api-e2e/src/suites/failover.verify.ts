import { setTimeout as sleep } from 'node:timers/promises';
import { createKey, runAnimalStore, Service } from '../support/service.js';
import { DurablePostgres, query, TcpProxy, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const CLIENTS = 8;
/** Creations before the primary is killed, and again after its standby serves. */
const CREATIONS = 200;

let primary: DurablePostgres;
let standby: DurablePostgres;
/** The address of the current primary, which moves. */
let address: TcpProxy;
let current: DurablePostgres;
let service: Service;
let key: string;

beforeAll(async () => {
  primary = await DurablePostgres.start();
  await runAnimalStore(primary.url, 'migrate', 'up');
  ({ key } = await createKey(primary.url, 'failover'));
  standby = await primary.addStandby();
  // From here on, a commit waits until the standby has flushed it.
  await query(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
  await waitFor(async () => {
    expect(await query(primary.url, 'SELECT sync_state FROM pg_stat_replication')).toEqual([{ sync_state: 'sync' }]);
  });
  current = primary;
  address = await TcpProxy.start(() => current.url);
  const url = new URL(primary.url);
  url.host = new URL(address.url).host;
  service = await Service.start(url.href, { MIGRATION_DATABASE_URL: url.href, RATE_LIMIT: '0' });
});
afterAll(async () => {
  await service.stop();
  await address.cut();
  await primary.remove();
  await standby.remove();
});

it('a failover to the synchronous standby loses and doubles no acknowledged creation', async () => {
  /** The id of each acknowledged creation, by its name. */
  const acknowledged = new Map<string, string>();
  const times: number[] = [];
  let isStopped = false;

  /** Creates animals one after the other. Repeats each creation with its key until it is acknowledged. */
  const sendCreations = async (client: number) => {
    for (let serial = 0; !isStopped; serial++) {
      const name = `client ${client}, animal ${serial}`;
      acknowledged.set(name, await createPet(name));
      times.push(performance.now());
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, client) => sendCreations(client));
  const failed = Promise.all(clients).then(() => undefined);
  const reach = (count: number) => Promise.race([waitFor(() => expect(acknowledged.size).toBeGreaterThanOrEqual(count)), failed]);

  await reach(CREATIONS);
  await primary.kill();
  await query(standby.url, 'SELECT pg_promote()');
  current = standby;
  address.disconnect();
  await reach(acknowledged.size + CREATIONS);
  isStopped = true;
  await failed;

  const rows = await query<{ id: string; name: string }>(standby.url, 'SELECT id::text, name FROM pets.pets');
  expect(rows).toHaveLength(acknowledged.size);
  expect(new Map(rows.map(({ id, name }) => [name, id]))).toEqual(acknowledged);
  const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
  console.log(`${acknowledged.size} creations, ${(Math.max(...gaps) / 1000).toFixed(1)} s without a 201`);
});

/** Returns the id. Throws if the response is neither a 201 nor one after which clients may repeat the request. */
async function createPet(name: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': name.replaceAll(/\W/g, '-') };
  for (;;) {
    const body = JSON.stringify({ name, categoryId: 1 });
    const response = await fetch(`${service.url}/v1/pets`, { method: 'POST', headers, body });
    const text = await response.text();
    const [, id] = /"id":(\d+)/.exec(text) ?? [];
    if (response.status === 201 && id !== undefined) return id;
    if (response.status !== 503) throw new Error(`${name}: ${response.status} ${text}`);
    await sleep(50);
  }
}
