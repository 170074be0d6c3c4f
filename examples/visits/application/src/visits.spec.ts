import type { Clock, IdempotencyKey, Outcome, PageRequest } from '@animal-store/kernel';
import { VisitCancelled } from '@animal-store/visits-contract';
import {
  INVALID_TREATMENT,
  INVALID_VISIT,
  NewTreatment,
  NewVisit,
  type Visit,
  VISIT_NOT_BOOKED,
  type VisitCommand,
  VisitRepository,
  VisitStatus,
} from '@animal-store/visits-domain';
import { describe, expect, it, jest } from '@jest/globals';
import { CancelOverdueVisits, CancelVisit, ChangeVisit, CheckInVisit, CountVisit, DeleteVisit, ListVisits } from './index.js';

const KEY = { clientId: 1n, key: 'a' };
const INPUT = { petId: 1n, startsAt: new Date('2030-01-07T09:00:00.000Z'), durationMinutes: 30, reason: 'Vaccination' };
const REX = { id: 1n, name: 'Rex' };
const pets = {
  exists: () => Promise.resolve(true),
  findByIds: (ids: readonly bigint[]) => Promise.resolve(new Map(ids.includes(1n) ? [[1n, REX]] : [])),
};
const isMet = () => undefined;

/** Visits without a database. Does not record keys. */
class FakeVisits extends VisitRepository {
  readonly commands: VisitCommand<Visit | undefined>[] = [];
  readonly requests: PageRequest<'startsAt'>[] = [];

  constructor(readonly visits: Visit[] = []) {
    super();
  }

  add(visit: NewVisit, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const result = { ...visit, id: BigInt(this.visits.length + 1) };
    this.visits.push(result);
    return Promise.resolve({ result, replayed: key !== undefined });
  }

  async change<Result extends Visit | undefined>(id: bigint, command: VisitCommand<Result>): Promise<Outcome<Result>> {
    const index = this.visits.findIndex((visit) => visit.id === id);
    const visit = this.visits[index] as Visit;
    command.precondition?.(visit);
    const result = command.change(visit);
    this.visits.splice(index, 1, ...(result ? [result] : []));
    if (result !== visit) this.commands.push(command);
    return { result, replayed: false };
  }

  find(id: bigint): Promise<Visit | undefined> {
    return Promise.resolve(this.visits.find((visit) => visit.id === id));
  }

  /** Returns pages of one visit. */
  list(_filter: object, request: PageRequest<'startsAt'>) {
    this.requests.push(request);
    const rest = this.visits.filter(({ id }) => id > (request.after?.id ?? 0n));
    const [first] = rest;
    return Promise.resolve({
      items: rest.slice(0, 1),
      next: rest.length > 1 && first ? { value: first.startsAt, id: first.id } : undefined,
    });
  }
}

describe.each([
  ['CheckInVisit', CheckInVisit, VisitStatus.CheckedIn, undefined],
  ['CancelVisit', CancelVisit, VisitStatus.Cancelled, VisitCancelled],
] as const)('%s', (name, UseCase, status, event) => {
  const command = { name: name.charAt(0).toLowerCase() + name.slice(1), key: KEY, event };

  it('changes the status once', async () => {
    const visits = new FakeVisits();
    await visits.add(NewVisit.create(INPUT));
    const useCase = new UseCase(visits);
    expect(await useCase.execute(1n, isMet, KEY)).toMatchObject({ result: { status } });
    expect(visits.commands).toEqual([expect.objectContaining({ name: command.name, key: KEY, ...(event && { event }) })]);
    await expect(useCase.execute(1n, isMet)).rejects.toThrow(expect.objectContaining(VISIT_NOT_BOOKED));
  });
});

it('ListVisits adds the names of the animals with one call, and null for an unknown animal', async () => {
  const visits = new FakeVisits([1n, 2n].map((petId) => ({ ...NewVisit.create({ ...INPUT, petId }), id: petId })));
  visits.list = () => Promise.resolve({ items: visits.visits, next: undefined });
  const findByIds = jest.fn(pets.findByIds);
  const page = await new ListVisits(visits, { ...pets, findByIds }).execute({}, { limit: 10 });
  expect(page).toEqual({
    items: [
      { ...visits.visits[0], petName: 'Rex' },
      { ...visits.visits[1], petName: null },
    ],
    next: undefined,
  });
  expect(findByIds.mock.calls).toEqual([[[1n, 2n]]]);
});

it('ChangeVisit changes given values, and DeleteVisit deletes a visit with its event, unless it is checked in', async () => {
  const visits = new FakeVisits();
  for (let count = 0; count < 2; count++) await visits.add(NewVisit.create({ ...INPUT, notes: 'Bites' }));
  const [changeVisit, deleteVisit] = [new ChangeVisit(visits), new DeleteVisit(visits)];
  expect(await changeVisit.execute(1n, { notes: null }, isMet, KEY)).toMatchObject({ result: { reason: INPUT.reason, notes: null } });
  await expect(changeVisit.execute(1n, { durationMinutes: 4 }, isMet)).rejects.toThrow(
    expect.objectContaining({ code: INVALID_VISIT.code }),
  );
  expect(await deleteVisit.execute(1n, isMet, KEY)).toEqual({ result: undefined, replayed: false });
  expect(visits.commands).toMatchObject([
    { name: 'changeVisit', key: KEY, input: { notes: null } },
    { name: 'deleteVisit', key: KEY, event: VisitCancelled },
  ]);
  await new CheckInVisit(visits).execute(2n, isMet);
  const notBooked = expect.objectContaining(VISIT_NOT_BOOKED);
  await expect(changeVisit.execute(2n, {}, isMet)).rejects.toThrow(notBooked);
  await expect(deleteVisit.execute(2n, isMet)).rejects.toThrow(notBooked);
});

it('CancelOverdueVisits cancels the visits of all pages that are still booked, up to a day ago', async () => {
  const visits = new FakeVisits();
  for (let count = 0; count < 3; count++) await visits.add(NewVisit.create(INPUT));
  await new CheckInVisit(visits).execute(2n, isMet);
  const clock: Clock = { now: () => new Date('2031-01-02T00:00:00Z') };
  await new CancelOverdueVisits(visits, clock).execute();
  expect(visits.visits.map(({ status }) => status)).toEqual(['cancelled', 'checked_in', 'cancelled']);
  expect(visits.requests.map(({ order }) => order)).toEqual(
    Array.from({ length: 3 }, () => ({ by: 'startsAt', to: new Date('2031-01-01T00:00:00Z') })),
  );
});

it('CountVisit counts a visit on its day in UTC', async () => {
  const counts: [string, number][] = [];
  const days = { add: (day: string, visits: number) => Promise.resolve(void counts.push([day, visits])) };
  await new CountVisit(days).execute(new Date('2030-01-07T23:59:59.999Z'), 1);
  await new CountVisit(days).execute(new Date('2030-01-08T00:00:00.000Z'), -1);
  expect(counts).toEqual([
    ['2030-01-07', 1],
    ['2030-01-08', -1],
  ]);
});

it('a treatment has a name', () => {
  const { code } = INVALID_TREATMENT;
  expect(() => NewTreatment.create({ visitId: 1n, name: '' })).toThrow(expect.objectContaining({ code }));
});
