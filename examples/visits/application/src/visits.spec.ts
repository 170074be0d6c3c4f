import { type Clock, DomainError, type IdempotencyKey, type PageRequest, type Outcome, PRECONDITION_FAILED } from '@animal-store/kernel';
import { VisitCancelled } from '@animal-store/visits-contract';
import {
  INVALID_VISIT,
  type NewTreatment,
  NewVisit,
  PET_UNKNOWN,
  type Treatment,
  TreatmentRepository,
  type Visit,
  VISIT_NOT_BOOKED,
  VISIT_NOT_FOUND,
  type VisitCommand,
  VisitRepository,
  VisitStatus,
} from '@animal-store/visits-domain';
import { describe, expect, it } from '@jest/globals';
import {
  AddTreatment,
  CancelOverdueVisits,
  CancelVisit,
  CheckInVisit,
  CountVisit,
  CreateVisit,
  GetVisit,
  ListTreatments,
} from './index.js';

const KEY = { clientId: 1n, key: 'a' };
const INPUT = { petId: 1n, startsAt: new Date('2030-01-07T09:00:00.000Z'), durationMinutes: 30, reason: 'Vaccination' };
const pets = { exists: (id: bigint) => Promise.resolve(id === 1n) };
const isMet = () => undefined;
const fails = () => {
  throw new DomainError(PRECONDITION_FAILED);
};

/** Visits without a database. Does not record keys. */
class FakeVisits extends VisitRepository {
  readonly commands: VisitCommand[] = [];
  readonly requests: PageRequest<'startsAt'>[] = [];

  constructor(readonly visits: Visit[] = []) {
    super();
  }

  add(visit: NewVisit): Promise<Visit> {
    const added = { ...visit, id: BigInt(this.visits.length + 1) };
    this.visits.push(added);
    return Promise.resolve(added);
  }

  async addOnce(visit: NewVisit): Promise<Outcome<Visit>> {
    return { result: await this.add(visit), replayed: true };
  }

  async change(id: bigint, command: VisitCommand): Promise<Outcome<Visit>> {
    const index = this.visits.findIndex((visit) => visit.id === id);
    const visit = this.visits[index] as Visit;
    command.precondition?.(visit);
    const result = command.change(visit);
    this.visits[index] = result;
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

class FakeTreatments extends TreatmentRepository {
  add(treatment: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    return Promise.resolve({ result: { id: 1n, ...treatment }, replayed: key !== undefined });
  }

  list = (visitId: bigint) => Promise.resolve({ items: [{ id: 1n, visitId, name: 'X-ray' }] });
}

describe('CreateVisit', () => {
  it('adds the visit, once for a key', async () => {
    const createVisit = new CreateVisit(new FakeVisits(), pets);
    const visit = NewVisit.create(INPUT);
    expect(await createVisit.execute(INPUT)).toEqual({ result: { ...visit, id: 1n }, replayed: false });
    expect(await createVisit.execute(INPUT, KEY)).toEqual({ result: { ...visit, id: 2n }, replayed: true });
  });

  it('rejects an unknown animal and invalid values, and adds nothing', async () => {
    const visits = new FakeVisits();
    const createVisit = new CreateVisit(visits, pets);
    await expect(createVisit.execute({ ...INPUT, petId: 2n })).rejects.toThrow(expect.objectContaining(PET_UNKNOWN));
    await expect(createVisit.execute({ ...INPUT, reason: '' })).rejects.toThrow(DomainError);
    expect(visits.visits).toEqual([]);
  });
});

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

  it('changes nothing if the precondition fails', async () => {
    const visits = new FakeVisits();
    await visits.add(NewVisit.create(INPUT));
    await expect(new UseCase(visits).execute(1n, fails)).rejects.toThrow(expect.objectContaining(PRECONDITION_FAILED));
    expect(visits.commands).toEqual([]);
  });
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

it('a visit and its treatments need a visit, and a treatment a name', async () => {
  const visits = new FakeVisits();
  const treatments = new FakeTreatments();
  const unknown = expect.objectContaining(VISIT_NOT_FOUND);
  await expect(new GetVisit(visits).execute(1n)).rejects.toThrow(unknown);
  await expect(new ListTreatments(treatments, visits).execute(1n, { limit: 10 })).rejects.toThrow(unknown);
  const { id } = await visits.add(NewVisit.create(INPUT));
  expect((await new ListTreatments(treatments, visits).execute(id, { limit: 10 })).items).toHaveLength(1);
  const addTreatment = new AddTreatment(treatments);
  expect(await addTreatment.execute({ visitId: id, name: 'X-ray' }, KEY)).toMatchObject({ replayed: true });
  await expect(addTreatment.execute({ visitId: id, name: '' })).rejects.toMatchObject({ code: INVALID_VISIT.code });
});
