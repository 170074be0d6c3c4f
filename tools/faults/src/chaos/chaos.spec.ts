import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Ledger } from '../ledger.js';
import { Random } from '../random.js';
import { promisesBrokenByFault, promisesBrokenByOverload, reportChaos } from './chaos-report.js';
import { Load, Observations } from './load.js';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function startLoad(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<{ load: Load; ledger: Ledger }> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ledger = new Ledger();
  const load = new Load(`http://127.0.0.1:${port}`, ['key'], ledger, new Random(1), 2);
  cleanUps.push(async () => {
    await load.stop();
    server.closeAllConnections();
    server.close();
  });
  return { load, ledger };
}

const pet = (id: bigint) => `{"id":${id},"name":"Rex","categoryId":1,"status":"available"}`;

function respondWith(response: ServerResponse, status: number): void {
  response.writeHead(status).end(JSON.stringify({ code: 'some_code', message: 'Some message.', status }));
}

it('reports when each operation has succeeded again, and its observations', async () => {
  const { load, ledger } = await startLoad(({ method }, response) => {
    response.writeHead(method === 'POST' ? 201 : 200).end(pet(9007199254740993n));
  });
  const recovery = load.recovery();
  load.start(2);
  expect(await recovery).toBeGreaterThan(0);
  expect(load.nextPhase().acceptedMs.length).toBeGreaterThanOrEqual(3);
  await load.stop();
  expect(ledger.problems).toEqual([]);
});

it('retries a creation with its key until it gets a response, and counts shed and dropped requests', async () => {
  const keys: unknown[] = [];
  let resolveCreated: (() => void) | undefined;
  const created = new Promise<void>((resolve) => (resolveCreated = resolve));
  const { load, ledger } = await startLoad(({ method, headers }, response) => {
    if (method !== 'POST') return void response.writeHead(200).end('[]');
    keys.push(headers['idempotency-key']);
    if (keys.length === 1) return respondWith(response, 503);
    if (keys.length === 2) return respondWith(response, 429);
    if (keys.length === 3) return void response.destroy();
    // A response that ends early.
    if (keys.length === 4) return void response.writeHead(201, { 'Content-Length': 100 }).write('{', () => response.destroy());
    response.writeHead(201).end(pet(7n));
    resolveCreated?.();
  });
  load.start(1);
  await created;
  await load.stop();
  expect(new Set(keys.slice(0, 5)).size).toBe(1);
  expect(keys[0]).toMatch(/^"chaos-\d+-0"$/);
  expect(load.observations.shed).toBe(2);
  expect(load.observations.dropped).toEqual([
    expect.stringMatching(/^createPet after \d+ ms on a connection used before: socket hang up$/),
    expect.stringMatching(/^createPet after \d+ ms on a new connection: aborted$/),
  ]);
  expect(ledger.problems).toEqual([]);
});

it('excuses every request that is in flight while drops are allowed, whenever it ends', async () => {
  const silent: ServerResponse[] = [];
  let three: (() => void) | undefined;
  const sent = new Promise<void>((resolve) => (three = resolve));
  const { load } = await startLoad(({ method }, response) => {
    if (silent.push(response) === 3) three?.();
    if (silent.length > 3) response.writeHead(method === 'POST' ? 201 : 200).end(pet(7n));
  });
  load.start(3);
  await sent;
  load.allowDrops(true);
  load.allowDrops(false);
  silent[0]?.destroy();
  silent[1]?.destroy();
  await load.recovery().then(() => silent[2]?.destroy());
  await load.stop();
  expect(load.observations).toMatchObject({ excused: 3, dropped: [] });
});

it('returns quantiles, also of an empty list', () => {
  const observations = new Observations();
  expect(observations.quantile(0.99)).toBe(0);
  observations.acceptedMs.push(3, 1, 2);
  expect([0, 0.5, 1].map((share) => observations.quantile(share))).toEqual([1, 2, 3]);
});

const DROPPED = ['a', 'b', 'c', 'd'];
const fault = { name: 'database stopped', recoversWithinMs: 2_000 };
const kept = { recoveryMs: 1_999, seen: { dropped: [] as string[] }, isRunning: true };

describe('a fault', () => {
  it('breaks no promise if all are kept', () => {
    expect(promisesBrokenByFault(fault, kept, true)).toEqual([]);
    expect(promisesBrokenByFault({ name: 'kill -9' }, { ...kept, recoveryMs: 29_000 }, true)).toEqual([]);
  });

  it.each([
    [{ recoveryMs: undefined }, 'no recovery'],
    [{ recoveryMs: 2_000.6 }, 'recovered after 2001 ms instead of within 2000 ms'],
    [{ seen: { dropped: DROPPED } }, '4 requests got no response (a; b; c)'],
    [{ isRunning: false }, 'the service exited'],
  ])('breaks a promise with %o', (outcome, problem) => {
    expect(promisesBrokenByFault(fault, { ...kept, ...outcome }, true)).toEqual([`database stopped: ${problem}`]);
  });

  it('breaks no promise by slow recovery unless the run is strict', () => {
    expect(promisesBrokenByFault(fault, { ...kept, recoveryMs: 20_000 }, false)).toEqual([]);
  });
});

describe('an overload', () => {
  const observations = ({ ms = 1_500, dropped = [] as string[] } = {}) => Object.assign(new Observations(), { acceptedMs: [ms], dropped });

  it('breaks no promise if accepted requests get a fast response', () => {
    expect(promisesBrokenByOverload('flood', observations(), observations(), true)).toEqual([]);
    expect(promisesBrokenByOverload('flood', observations({ ms: 9_000 }), observations(), false)).toEqual([]);
  });

  it('breaks promises by late and missing responses', () => {
    expect(
      promisesBrokenByOverload('flood', observations({ ms: 1_501, dropped: ['a', 'b'] }), observations({ dropped: ['c'] }), true),
    ).toEqual([
      'flood: other clients: 1 requests got no response (c)',
      'flood: accepted requests took 1501 ms at p99',
      'flood: 2 requests got no response (a; b)',
    ]);
  });
});

describe('the report', () => {
  const calm = Object.assign(new Observations(), { acceptedMs: [1, 2, 30], shed: 4, dropped: ['a', 'b'], excused: 3 });
  const verdict = { acknowledged: 7, stored: 8, lost: 0, duplicates: 0 };
  const statuses = new Map([
    [503, 4],
    [200, 3],
  ]);
  const phases = [
    { name: 'calm', seen: calm },
    { name: 'database stopped', seen: new Observations(), recoveryMs: 1_234.5 },
  ];

  it('has a line for each phase, and the sums', () => {
    const lines = reportChaos({ phases, verdict, statuses, problems: [] }).split('\n');
    const cells = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells.slice(2)).toEqual([
      ['', 'calm', '3', '2', '30', '4', '12', '5', '', ''],
      ['', 'database stopped', '0', '0', '0', '0', '0', '0', '1.2', ''],
    ]);
    expect(lines.slice(-7).join()).toBe(
      'responses     200: 3, 503: 4,acknowledged  7,stored        8,lost          0,duplicates    0,,all promises kept',
    );
  });

  it('lists each broken promise', () => {
    const text = reportChaos({ phases, verdict, statuses, problems: ['one', 'two'] });
    expect(text).toMatch(/\nbroken promises:\n- one\n- two$/);
  });
});
