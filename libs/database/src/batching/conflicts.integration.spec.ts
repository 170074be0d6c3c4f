import { createTestDatabase, setOddSettings, type TestDatabase, waitFor } from '@animal-store/local-postgres/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isDatabaseUnavailable } from '../connection/error-meaning.js';
import type { StatementInterceptor } from '../connection/statement.js';
import type { Database } from '../database.js';
import { BatchedRepository } from './batched-repository.js';
import { migrateUp } from '../migrations/migrations.js';
import { throwConstraintErrors } from '../statements/constraint-errors.js';
import {
  BookingEntity,
  CLINIC_ERRORS,
  ClinicKeyEntity,
  clinicOf,
  insertRound,
  InvoiceEntity,
  openClinic,
  outcomesOf,
} from '../testing/clinic.js';

const PROCESSES = 3;

let database: TestDatabase;
/** Three processes that share only the database. */
let processes: Database[];
let clinics: ReturnType<typeof clinicOf>[];
let first: Database;
let clinic: ReturnType<typeof clinicOf>;
const restore: (() => void)[] = [];
let keyNumber = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  await setOddSettings(database.url);
  processes = await Promise.all(Array.from({ length: PROCESSES }, () => openClinic(database.url)));
  [first] = processes as [Database];
  await migrateUp(first);
  clinics = processes.map(clinicOf);
  [clinic] = clinics as [ReturnType<typeof clinicOf>];
});
beforeEach(() => first.query('TRUNCATE clinic.bookings, clinic.invoices, clinic.chips, clinic.idempotency_keys, clinic.rooms'));
afterEach(() => {
  for (const each of restore.splice(0)) each();
});
afterAll(async () => {
  await Promise.all(processes.map((each) => each.destroy()));
  await database.drop();
});

/** Records the name of each statement of the hot path, and the code of its error. */
function recordStatements(): { readonly names: string[]; readonly codes: string[] } {
  const seen = { names: [] as string[], codes: [] as string[] };
  for (const { pool } of processes) {
    const interceptor: StatementInterceptor = ({ name = '' }, run) => {
      seen.names.push(name);
      const rows = run();
      rows.catch((error: unknown) => seen.codes.push((error as { code: string }).code));
      return rows;
    };
    Object.assign(pool, { interceptor });
    restore.push(() => Object.assign(pool, { interceptor: undefined }));
  }
  return seen;
}

const countOf = (values: readonly string[]) =>
  Object.fromEntries([...new Set(values)].sort().map((each) => [each, values.filter((value) => value === each).length]));
const times = <Result>(count: number, create: (index: number) => Result) => Array.from({ length: count }, (_, index) => create(index));

describe('rows with values that exist', () => {
  it.each([
    ['without keys', () => undefined],
    ['with keys', (index: number) => String(index)],
  ])('fail alone: %s', async (_name, keyOf) => {
    await clinic.invoice('7');
    await clinic.invoice('9');
    const { names, codes } = recordStatements();
    const outcomes = await outcomesOf([
      clinic.invoice('first', keyOf(99)),
      ...times(20, (index) => clinic.invoice(String(index % 15), keyOf(index))),
    ]);
    expect(outcomes.slice(1).map((outcome, index) => [index, outcome])).toEqual(
      times(20, (index) => [index, index === 7 || index === 9 || index > 14 ? 'invoice_number_taken' : 'inserted']),
    );
    const inserts = names.slice(1).filter((name) => name.startsWith('insert'));
    expect(inserts.filter((name) => name.startsWith('insert unique'))).toHaveLength(1);
    // Only the error of a statement says which constraint a row violates.
    expect([inserts.length, codes]).toEqual([8, times(7, () => '23505')]);
    expect(await first.getRepository(InvoiceEntity).count()).toBe(16);
    expect(await first.getRepository(ClinicKeyEntity).count()).toBe(keyOf(0) === undefined ? 0 : 14);
  });

  it('fail with the error of their constraint, if there are several', async () => {
    await clinic.chip('a', 1n);
    const chips = [
      ['b', 2n],
      ['a', 3n],
      ['c', 1n],
      ['d', 4n],
      ['a', 5n],
    ] as const;
    for (const keyOf of [() => undefined, (code: string) => `key ${code}`]) {
      await first.query(`DELETE FROM clinic.chips WHERE code <> 'a'`);
      const outcomes = await outcomesOf([
        clinic.chip('0', 0n),
        ...chips.map(([code, petId], index) => clinic.chip(code, petId, keyOf(code + String(index)))),
      ]);
      expect(outcomes).toEqual(['inserted', 'inserted', 'chip_code_taken', 'pet_has_chip', 'inserted', 'chip_code_taken']);
    }
  });

  it('are not confused with identifiers that exist, for example after a restore', async () => {
    const [id = 0n] = await Promise.all(times(20, (index) => clinic.invoice(String(index))));
    for (const keyOf of [() => undefined, (index: number) => `restored ${String(index)}`]) {
      await first.query(`ALTER SEQUENCE clinic.invoices_id_seq RESTART WITH ${String(id - 1n)}`);
      const outcomes = await outcomesOf(times(3, (index) => clinic.invoice(`restored ${String(index)}`, keyOf(index))));
      const taken = expect.stringContaining('"invoices_pkey"');
      expect(outcomes.sort()).toEqual([taken, taken, 'inserted']);
      await first.query(`DELETE FROM clinic.invoices WHERE number LIKE 'restored%'`);
    }
  });

  it('of a repeated request are those of the first one', async () => {
    const [number, key] = ['1', 'once'];
    const repeated = await Promise.all(times(12, (index) => (clinics[index % PROCESSES] as typeof clinic).invoice(number, key)));
    expect(new Set(repeated).size).toBe(1);
    expect(await first.getRepository(InvoiceEntity).count()).toBe(1);
    expect(await outcomesOf([clinic.invoice(number, 'another'), clinic.invoice('2', 'another')])).toEqual([
      'invoice_number_taken',
      'inserted',
    ]);
  });
});

it.each([
  ['alone', 0],
  ['in a batch', 4],
])('a repeated request behind the commit of the first one gets its row, not a conflict: %s', async (name, othersCount) => {
  const [number, key] = [`${name} number`, `${name} key`];
  const runner = first.createQueryRunner();
  await runner.startTransaction();
  try {
    const { id } = (await runner.manager.insert(InvoiceEntity, { number })).identifiers[0] as InvoiceEntity;
    await runner.manager.insert(ClinicKeyEntity, { clientId: 1n, key, rowId: id, request: { number } });
    const others = times(othersCount, (index) => clinic.invoice(`other ${String(index)}`, `other ${String(index)}`));
    const repeated = clinic.invoice(number, key);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await waitFor(async () => expect(await first.query(waiting)).not.toEqual([]), { intervalMs: 5 });
    await runner.commitTransaction();
    expect(await repeated).toBe(id);
    await Promise.all(others);
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
});

it.each([undefined, 'key'])('a value that is committed while its row waits alone is a conflict, with the key %p', async (key) => {
  const { names } = recordStatements();
  let outcomes: Promise<string[]> | undefined;
  await first.transaction(async (manager) => {
    await manager.insert(InvoiceEntity, { number: '1' });
    outcomes = outcomesOf([clinic.invoice('1', key)]);
    await waitFor(() => expect(names.length).toBeGreaterThan(2), { intervalMs: 5 });
  });
  expect(await outcomes).toEqual(['invoice_number_taken']);
});

it.each([
  ['without keys', () => undefined],
  ['with keys', (index: number) => String(index)],
])('50 overlapping bookings in three processes: one is stored, the others are conflicts, %s', async (_name, keyOf) => {
  const { codes } = recordStatements();
  for (let round = 0; round < 4; round++) {
    const startsAt = (index: number) => new Date(round * 3_600_000 + (index % 5) * 60_000);
    const outcomes = await outcomesOf(
      times(50, (index) => (clinics[index % PROCESSES] as typeof clinic).book({ startsAt: startsAt(index) }, keyOf(round * 50 + index))),
    );
    expect(countOf(outcomes)).toEqual({ animal_booked: 49, inserted: 1 });
  }
  expect(await first.getRepository(BookingEntity).count()).toBe(4);
  expect(codes).not.toContain('40P01');
});

it('a batch inserts unique values and keys in their order, so that processes do not wait for each other', async () => {
  await Promise.all([clinic.invoice('0', '0'), clinic.invoice('3', 'a'), clinic.invoice('1', 'c'), clinic.invoice('2', 'b')]);
  const stored = await first.query<object[]>(
    `SELECT array_agg(number ORDER BY ctid) AS numbers, (SELECT array_agg(key ORDER BY ctid) FROM clinic.idempotency_keys) AS keys FROM clinic.invoices`,
  );
  expect(stored).toEqual([{ numbers: ['0', '1', '2', '3'], keys: ['0', 'a', 'b', 'c'] }]);
});

it('batches in another order do not deadlock', async () => {
  const { codes } = recordStatements();
  const outcomes: string[] = [];
  for (let round = 0; round < 6; round++)
    outcomes.push(...(await Promise.all(clinics.map((each, process) => insertRound(each, round, process)))).flat());
  const { inserted, ...others } = countOf(outcomes);
  expect(Object.keys(others)).toEqual(['animal_booked', 'invoice_number_taken']);
  expect(codes).not.toContain('40P01');
  expect(await first.getRepository(InvoiceEntity).count()).toBe(6 * 24);
  expect(inserted).toBe(6 * 24 + (await first.getRepository(BookingEntity).count()));
});

describe('throwConstraintErrors', () => {
  it.each([undefined, 'toString'])('throws any other error unchanged, also with the constraint %p', (constraint) => {
    const error = Object.assign(new Error('a bug'), { constraint });
    expect(() => throwConstraintErrors(CLINIC_ERRORS)(error)).toThrow(error);
  });

  it('throws the domain error of a foreign key, without affecting other rows', async () => {
    await first.query('INSERT INTO clinic.rooms VALUES (1)');
    for (const keyOf of [() => undefined, (petId: bigint) => String(petId)]) {
      const rooms = [1n, 2n, null, 1n];
      const outcomes = await outcomesOf(
        [1n, 2n, 3n, 4n].map((petId, index) => clinic.book({ petId, roomId: rooms[index] ?? null }, keyOf(petId))),
      );
      expect(outcomes).toEqual(['inserted', 'room_unknown', 'inserted', 'inserted']);
      await first.query('DELETE FROM clinic.bookings');
    }
  });

  it('throws the domain error of an exclusion constraint or a foreign key for TypeORM', async () => {
    const bookings = first.getRepository(BookingEntity);
    await clinic.book({});
    const id = await clinic.book({ petId: 2n });
    const attempts = [
      () => bookings.update({ id }, { petId: 1n }),
      () => first.transaction((manager) => manager.update(BookingEntity, { id }, { petId: 1n })),
      () => bookings.update({ id }, { roomId: 7n }),
    ];
    const outcomes = await outcomesOf(attempts.map((attempt) => attempt().catch(throwConstraintErrors(CLINIC_ERRORS))));
    expect(outcomes).toEqual(['animal_booked', 'animal_booked', 'room_unknown']);
    await bookings.update({ petId: 1n }, { status: 'cancelled' });
    expect(await outcomesOf(attempts.slice(0, 1).map((attempt) => attempt()))).toEqual(['inserted']);
    await expect(clinic.book({})).rejects.toMatchObject({ name: 'DomainError', cause: { constraint: 'bookings_no_overlap' } });
  });
});

it('a transaction whose connection is lost between statements reports an unavailable database', async () => {
  const error: unknown = await first
    .transaction(async (manager) => {
      const [{ pid } = { pid: 0 }] = await manager.query<{ pid: number }[]>('SELECT pg_backend_pid() AS pid');
      await first.query('SELECT pg_terminate_backend($1)', [pid]);
      await waitFor(() => expect(manager.queryRunner?.isReleased).toBe(true));
      await manager.update(InvoiceEntity, { id: 1n }, { number: '1' });
    })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: expect.stringContaining('already released') });
  expect(isDatabaseUnavailable(error)).toBe(true);
});

it('a locked table leaves connections to other tables', async () => {
  const [, other] = processes as [Database, Database];
  const runner = other.createQueryRunner();
  const waiting: Promise<unknown>[] = [];
  const invoices = new BatchedRepository(first.getRepository(InvoiceEntity));
  const submit = () => {
    const number = String(keyNumber++);
    waiting.push(clinic.invoice(number), clinic.invoice(`keyed ${number}`, number));
    waiting.push(invoices.findById(BigInt(keyNumber)), invoices.page({}, { limit: 1, after: { id: BigInt(keyNumber) } }));
  };
  const waitingStatements = async () => {
    const [row] = await other.query<{ count: number }[]>(
      `SELECT count(*)::integer AS count FROM pg_locks WHERE NOT granted AND relation = 'clinic.invoices'::regclass`,
    );
    return row?.count;
  };
  await runner.startTransaction();
  try {
    await runner.query('LOCK TABLE clinic.invoices');
    await waitFor(async () => {
      submit();
      expect(await waitingStatements()).toBe(6);
    });
    for (let pet = 0; pet < 10; pet++) {
      submit();
      await clinic.chip(`chip ${String(pet)}`, BigInt(pet));
    }
    expect(await waitingStatements()).toBe(6);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
  await Promise.all(waiting);
});
