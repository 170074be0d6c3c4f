import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@animal-store/local-postgres/testing';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '../database.js';
import { migrateUp } from '../migrations/migrations.js';
import { BookingEntity, ChipEntity, InvoiceEntity, openClinic } from './clinic.js';

const PROGRAM = join(import.meta.dirname, '../../dist/testing/conflict-process.js');
const PROCESSES = 3;
const ROUNDS = 60;
const TIMEOUT_MS = 300_000;

let database: TestDatabase;
let dataSource: Database;
let processes: ChildProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await openClinic(database.url);
  await migrateUp(dataSource);
  processes = Array.from({ length: PROCESSES }, (_, index) => fork(PROGRAM, [database.url, String(index)]));
  for (const each of processes) await once(each, 'message');
}, TIMEOUT_MS);

afterAll(async () => {
  for (const each of processes) each.disconnect();
  for (const each of processes) if (each.exitCode === null) await once(each, 'exit');
  await dataSource.destroy();
  await database.drop();
});

/** Lets all processes work at the same time, in each round. Returns the number of each outcome. */
async function run(kind: 'rows' | 'chips' | 'slot', rounds: number): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (let round = 1; round <= rounds; round++) {
    const responses = processes.map((each) => once(each, 'message') as Promise<[Record<string, number>]>);
    for (const each of processes) each.send({ kind, round });
    for (const [counts] of await Promise.all(responses))
      for (const [outcome, count] of Object.entries(counts)) total[outcome] = (total[outcome] ?? 0) + count;
  }
  return total;
}

async function deadlocks(): Promise<number> {
  // Backends report their counts at most once a second.
  await sleep(1_500);
  await dataSource.query('SELECT pg_stat_clear_snapshot()');
  const [row] = await dataSource.query<{ deadlocks: bigint }[]>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(row?.deadlocks);
}

it(
  'rows of processes in opposing order fail only if their values exist, without a deadlock',
  async () => {
    const { inserted = 0, animal_booked = 0, invoice_number_taken = 0, ...others } = await run('rows', ROUNDS);
    expect(others).toEqual({});
    expect(await dataSource.getRepository(InvoiceEntity).count()).toBe(ROUNDS * 24);
    expect(invoice_number_taken).toBe(ROUNDS * 24 * (PROCESSES - 1));
    expect(inserted).toBe(ROUNDS * 24 + (await dataSource.getRepository(BookingEntity).count()));
    expect(inserted + animal_booked + invoice_number_taken).toBe(ROUNDS * 24 * 2 * PROCESSES);
    expect(await deadlocks()).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'of bookings at the same time, one is stored',
  async () => {
    expect(await run('slot', ROUNDS)).toEqual({ inserted: ROUNDS, animal_booked: ROUNDS * (17 * PROCESSES - 1) });
    expect(await deadlocks()).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'rows of a table with two constraints fail only if their values exist',
  async () => {
    const rounds = ROUNDS / 6;
    expect(await run('chips', rounds)).toEqual({ inserted: rounds * 24, chip_code_taken: rounds * 24, pet_has_chip: rounds * 24 });
    expect(await dataSource.getRepository(ChipEntity).count()).toBe(rounds * 24);
  },
  TIMEOUT_MS,
);
