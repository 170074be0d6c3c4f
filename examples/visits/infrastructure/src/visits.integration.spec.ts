import { IDEMPOTENCY_KEY_REUSED, type PageRequest, type Position } from '@animal-store/kernel';
import { describeMigrations, useDatabase } from '@animal-store/test-kit';
import { VisitCancelled } from '@animal-store/visits-contract';
import {
  moveVisit,
  NewTreatment,
  type NewVisit,
  VISIT_NOT_FOUND,
  VISIT_OVERLAPS,
  type VisitCommand,
  VisitStatus,
  type Visit,
} from '@animal-store/visits-domain';
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aNewVisit, anyNewVisit, aVisitInSlot } from './testing/visit-builder.js';
import { TypeOrmTreatmentRepository } from './typeorm-treatment-repository.js';
import { TypeOrmVisitDays } from './typeorm-visit-days.js';
import { TypeOrmVisitRepository } from './typeorm-visit-repository.js';
import { visitsPersistence } from './visits-persistence.js';

const KEY = { clientId: 7n, key: 'first-1' };
const ASCENDING = { limit: 100, order: { by: 'startsAt' } } as const;
const cancel: VisitCommand = { name: 'cancel', event: VisitCancelled, change: (visit) => moveVisit(visit, VisitStatus.Cancelled) };

const database = useDatabase(visitsPersistence);
let repository: TypeOrmVisitRepository;
let treatments: TypeOrmTreatmentRepository;

describeMigrations(visitsPersistence);

const add = async (visit: NewVisit) => (await repository.add(visit)).result;

beforeEach(async () => {
  await database.empty();
  repository = new TypeOrmVisitRepository(database.dataSource);
  treatments = new TypeOrmTreatmentRepository(database.dataSource);
});

it('finds and lists exactly what was added', async () => {
  await fc.assert(
    fc.asyncProperty(anyNewVisit, async (visit) => {
      const added = await add(visit);
      expect(added).toMatchObject({ ...visit });
      expect(await repository.find(added.id)).toEqual({ ...added });
      const { items } = await repository.list({ petId: visit.petId }, { ...ASCENDING, order: { by: 'startsAt', from: visit.startsAt } });
      expect(items).toEqual([added]);
      // Otherwise, visits may overlap.
      await database.empty();
    }),
    { numRuns: 25 },
  );
});

it('rejects a visit that overlaps another one of the animal, and no others', async () => {
  const [first] = await Promise.all([0, 1, 3].map((slot) => add(aVisitInSlot(slot))));
  const overlapping = [
    aVisitInSlot(0),
    aVisitInSlot(0.5),
    aVisitInSlot(2, { durationMinutes: 31 }),
    aVisitInSlot(-1, { durationMinutes: 480 }),
  ];
  for (const visit of overlapping) await expect(add(visit)).rejects.toThrow(expect.objectContaining(VISIT_OVERLAPS));
  await expect(repository.add(aVisitInSlot(1), KEY)).rejects.toThrow(expect.objectContaining(VISIT_OVERLAPS));
  await add(aVisitInSlot(2));
  await add(aVisitInSlot(0, { petId: 2n }));
  await repository.change(first?.id ?? 0n, cancel);
  await add(aVisitInSlot(0));
  expect((await repository.list({}, ASCENDING)).items).toHaveLength(6);
});

describe('change', () => {
  it('runs a command once for a key, also for concurrent repetitions', async () => {
    const { id } = await add(aNewVisit({ notes: 'Bites' }));
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => repository.change(id, { ...cancel, key: KEY })));
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const { result } of outcomes) expect(result).toEqual({ ...aNewVisit({ notes: 'Bites' }), id, status: VisitStatus.Cancelled });
    expect(await repository.find(id)).toEqual({ ...outcomes[0]?.result });
  });

  it('rejects the key for another visit, another command and a creation', async () => {
    const [first, second] = [await add(aVisitInSlot(0)), await add(aVisitInSlot(1))];
    await repository.change(first.id, { ...cancel, key: KEY });
    const reused = expect.objectContaining({ code: IDEMPOTENCY_KEY_REUSED.code });
    await expect(repository.change(second.id, { ...cancel, key: KEY })).rejects.toThrow(reused);
    await expect(repository.change(first.id, { ...cancel, name: 'other', key: KEY })).rejects.toThrow(reused);
    await expect(repository.add(aVisitInSlot(2), KEY)).rejects.toThrow(reused);
  });

  it('stores nothing if the command throws, or if there is no visit', async () => {
    const { id } = await add(aNewVisit());
    const change = () => {
      throw new Error('not now');
    };
    await expect(repository.change(id, { name: 'fail', key: KEY, change })).rejects.toThrow('not now');
    await expect(repository.change(-1n, { ...cancel, key: KEY })).rejects.toThrow(expect.objectContaining(VISIT_NOT_FOUND));
    expect(await repository.change(id, { ...cancel, key: KEY })).toMatchObject({ replayed: false });
  });

  it('deletes a visit with its treatments and its report, once for a key', async () => {
    const [first, second] = [await add(aVisitInSlot(0)), await add(aVisitInSlot(1))];
    for (const { id } of [first, second]) await treatments.add(NewTreatment.create({ visitId: id, name: 'X-ray' }));
    await database.dataSource.query(`INSERT INTO visits.reports VALUES ($1, 'PDF')`, [first.id]);
    const remove: VisitCommand<undefined> = { name: 'delete', event: VisitCancelled, key: KEY, change: () => undefined };
    for (const replayed of [false, true]) expect(await repository.change(first.id, remove)).toEqual({ result: undefined, replayed });
    expect([await repository.find(first.id), await repository.find(second.id)]).toEqual([undefined, second]);
    expect(await database.dataSource.query('SELECT visit_id AS id FROM visits.treatments')).toEqual([{ id: second.id }]);
    const other = { ...remove, input: { reason: 'other' } };
    await expect(repository.change(first.id, other)).rejects.toThrow(expect.objectContaining({ code: IDEMPOTENCY_KEY_REUSED.code }));
  });

  it('returns what the database stored', async () => {
    const { id } = await add(aNewVisit());
    await database.dataSource.query(`
      CREATE FUNCTION visits.probe() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.reason := 'trigger'; RETURN NEW; END $$;
      CREATE TRIGGER probe BEFORE UPDATE ON visits.visits FOR EACH ROW EXECUTE FUNCTION visits.probe()`);
    const unchanged = await repository.change(id, { name: 'none', change: (visit) => visit });
    expect(unchanged.result.reason).toBe('Vaccination');
    const { result } = await repository.change(id, cancel);
    await database.dataSource.query('DROP FUNCTION visits.probe CASCADE');
    expect(result.reason).toBe('trigger');
    expect(await repository.find(id)).toEqual({ ...result });
  });

  it('runs concurrent commands one after the other', async () => {
    const { id } = await add(aNewVisit());
    const commands = Array.from({ length: 5 }, () => repository.change(id, cancel));
    const settled = await Promise.allSettled(commands);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

it('lists by time, in both directions, in a range, and with each combination of filters', async () => {
  for (let slot = 0; slot < 12; slot++) {
    const { id } = await add(aVisitInSlot(slot % 6, { petId: BigInt(slot % 4), reason: `},{"id":${String(slot)}}` }));
    if (slot % 2 === 0) await repository.change(id, cancel);
  }
  const { items: all } = await repository.list({}, ASCENDING);
  expect(all).toHaveLength(12);
  const times = all.map(({ startsAt, id }) => [startsAt.getTime(), Number(id)]);
  expect(times).toEqual(times.toSorted(([a = 0, x = 0], [b = 0, y = 0]) => a - b || x - y));

  const [from, to] = [aVisitInSlot(1).startsAt, aVisitInSlot(4).startsAt];
  const filters = [{}, { petId: 1n }, { status: VisitStatus.Booked }, { petId: 2n, status: VisitStatus.Cancelled }];
  for (const filter of filters)
    for (const descending of [false, true])
      for (const range of [{}, { from }, { to }, { from, to }]) {
        const matching = all.filter(
          (visit) =>
            Object.entries(filter).every(([name, value]) => visit[name as keyof Visit] === value) &&
            (!range.from || visit.startsAt >= range.from) &&
            (!range.to || visit.startsAt < range.to),
        );
        const request = { limit: 3, order: { by: 'startsAt', descending, ...range } } as const;
        expect(await walk(filter, request)).toEqual(descending ? matching.toReversed() : matching);
      }
});

describe('treatments', () => {
  it('are added once for a key, and only to a visit', async () => {
    const { id } = await add(aNewVisit());
    const treatment = NewTreatment.create({ visitId: id, name: 'X-ray' });
    const outcomes = await Promise.all([1, 2, 3].map(() => treatments.add(treatment, KEY)));
    expect(outcomes.map(({ replayed }) => replayed).toSorted()).toEqual([false, true, true]);
    expect((await treatments.list({ visitId: id }, { limit: 10 })).items).toEqual([outcomes[0]?.result]);
    const reused = expect.objectContaining({ code: IDEMPOTENCY_KEY_REUSED.code });
    await expect(treatments.add(NewTreatment.create({ visitId: id, name: 'Bandage' }), KEY)).rejects.toThrow(reused);
    const unknown = NewTreatment.create({ visitId: -1n, name: 'X-ray' });
    await expect(treatments.add(unknown)).rejects.toThrow(expect.objectContaining(VISIT_NOT_FOUND));
  });
});

async function walk(filter: object, request: PageRequest<'startsAt'>): Promise<Visit[]> {
  const visited: Visit[] = [];
  let after: Position | undefined;
  do {
    const page = await repository.list(filter, { ...request, after });
    visited.push(...page.items);
    after = page.next;
  } while (after);
  return visited;
}

it('counts visits per day', async () => {
  const days = new TypeOrmVisitDays(database.dataSource);
  for (const visits of [1, 1, -1, 1]) await days.add('2030-01-07', visits);
  expect(await database.dataSource.query('SELECT * FROM visits.days')).toEqual([{ day: '2030-01-07', visits: 2 }]);
});

describe('the table of visits', () => {
  it.each([
    ["1, '2030-01-07Z', 4, 'booked', 'x', NULL", 'visits_duration_minutes_check'],
    ["1, '2030-01-07Z', 481, 'booked', 'x', NULL", 'visits_duration_minutes_check'],
    ["1, '2030-01-07Z', 30, 'lost', 'x', NULL", 'visits_status_check'],
    ["1, '2030-01-07Z', 30, 'booked', '', NULL", 'visits_reason_check'],
    ["1, '2030-01-07Z', 30, 'booked', 'x', ''", 'visits_notes_check'],
    ["NULL, '2030-01-07Z', 30, 'booked', 'x', NULL", 'null value in column "pet_id"'],
    ["1, NULL, 30, 'booked', 'x', NULL", 'null value in column "starts_at"'],
  ])('rejects %s', async (row, reason) => {
    const insert = `INSERT INTO visits.visits (pet_id, starts_at, duration_minutes, status, reason, notes) VALUES (${row})`;
    await expect(database.dataSource.query(insert)).rejects.toThrow(reason);
  });
});
