import { type Clock, DomainError, IDEMPOTENCY_KEY_REUSED, PRECONDITION_FAILED } from '@animal-store/kernel';
import type { PetCatalogue } from '@animal-store/pets-contract';
import { VisitCancelled } from '@animal-store/visits-contract';
import { PET_UNKNOWN, VISIT_NOT_BOOKED, VISIT_NOT_FOUND, VisitStatus } from '@animal-store/visits-domain';
import {
  aNewVisit,
  aVisitInSlot,
  InMemoryTreatments,
  InMemoryVisitDays,
  InMemoryVisits,
  OTHER_VISIT_VALUES,
} from '@animal-store/visits-testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  AddTreatment,
  CancelOverdueVisits,
  CancelVisit,
  CheckInVisit,
  CountVisit,
  CreateVisit,
  GetVisit,
  ListTreatments,
  ListVisits,
} from './index.js';

const KEY = { clientId: 1n, key: 'a' };
const ALL = { limit: 100, order: { by: 'startsAt' } } as const;
const pets: PetCatalogue = { exists: async (id) => id === 1n };
const isMet = () => undefined;
const fails = () => {
  throw new DomainError(PRECONDITION_FAILED);
};

let visits: InMemoryVisits;
beforeEach(() => {
  visits = new InMemoryVisits();
});

describe('CreateVisit', () => {
  it('adds the visit, which GetVisit and ListVisits return', async () => {
    const values = aNewVisit({ notes: 'Bites' });
    const { result, replayed } = await new CreateVisit(visits, pets).execute(values);
    expect([result, replayed]).toEqual([{ ...values, id: result.id }, false]);
    expect(await new GetVisit(visits).execute(result.id)).toEqual({ ...result });
    const { items } = await new ListVisits(visits).execute({ petId: 1n }, ALL);
    expect(items).toMatchObject([{ id: result.id }]);
    expect(items[0]).not.toHaveProperty('notes');
  });

  it('returns the first result to a retry with the same key', async () => {
    const createVisit = new CreateVisit(visits, pets);
    const first = await createVisit.execute(aNewVisit(), KEY);
    expect(await createVisit.execute(aNewVisit(), KEY)).toEqual({ result: first.result, replayed: true });
    const other = aNewVisit({ ...OTHER_VISIT_VALUES[1] });
    await expect(createVisit.execute(other, KEY)).rejects.toThrow(expect.objectContaining(IDEMPOTENCY_KEY_REUSED));
  });

  it('rejects an unknown animal and invalid values, and adds nothing', async () => {
    const createVisit = new CreateVisit(visits, pets);
    await expect(createVisit.execute(aNewVisit({ petId: 2n }))).rejects.toThrow(expect.objectContaining(PET_UNKNOWN));
    await expect(createVisit.execute({ ...aNewVisit(), reason: '' })).rejects.toThrow(DomainError);
    expect((await visits.list({}, ALL)).items).toEqual([]);
  });
});

it('GetVisit throws if there is no visit', async () => {
  await expect(new GetVisit(visits).execute(1n)).rejects.toThrow(expect.objectContaining(VISIT_NOT_FOUND));
});

describe.each([
  ['CheckInVisit', CheckInVisit, VisitStatus.CheckedIn],
  ['CancelVisit', CancelVisit, VisitStatus.Cancelled],
] as const)('%s', (_name, UseCase, status) => {
  it('changes the status once', async () => {
    const { id } = await visits.add(aNewVisit());
    const useCase = new UseCase(visits);
    expect(await useCase.execute(id, isMet, KEY)).toEqual({ result: { ...aNewVisit(), id, status }, replayed: false });
    expect(await useCase.execute(id, fails, KEY)).toMatchObject({ replayed: true });
    await expect(useCase.execute(id, isMet)).rejects.toThrow(expect.objectContaining(VISIT_NOT_BOOKED));
    const event = VisitCancelled.of({ visitId: id, petId: 1n, startsAt: aNewVisit().startsAt });
    expect(visits.events).toEqual(status === VisitStatus.Cancelled ? [event] : []);
  });

  it('changes nothing if the precondition fails', async () => {
    const { id } = await visits.add(aNewVisit());
    await expect(new UseCase(visits).execute(id, fails)).rejects.toThrow(expect.objectContaining(PRECONDITION_FAILED));
    expect(await visits.find(id)).toMatchObject({ status: 'booked' });
  });
});

describe('CancelOverdueVisits', () => {
  it('cancels booked visits that should have started more than a day ago, also on later pages', async () => {
    const added = [];
    for (let slot = 0; slot < 205; slot++) added.push(await visits.add(aVisitInSlot(slot)));
    await new CheckInVisit(visits).execute(added[0]?.id ?? 0n, isMet);
    const dayAfter = (slot: number): Clock => ({ now: () => new Date(aVisitInSlot(slot).startsAt.getTime() + 24 * 3_600_000) });
    await new CancelOverdueVisits(visits, visits, dayAfter(203)).execute();
    const { items: cancelled } = await visits.list({ status: VisitStatus.Cancelled }, { ...ALL, limit: 1000 });
    expect(cancelled.map(({ id }) => id)).toEqual(added.slice(1, 203).map(({ id }) => id));
    expect(visits.events).toHaveLength(202);
  });

  it('leaves a visit that was checked in after it was listed', async () => {
    const { id } = await visits.add(aNewVisit());
    const reader = new InMemoryVisits();
    await reader.add(aNewVisit());
    await new CheckInVisit(visits).execute(id, isMet);
    await new CancelOverdueVisits(visits, reader, { now: () => new Date('2031-01-01T00:00:00Z') }).execute();
    expect(await visits.find(id)).toMatchObject({ status: 'checked_in' });
  });
});

it('CountVisit counts the visits of each day', async () => {
  const days = new InMemoryVisitDays();
  const [first, second] = [new Date('2030-01-07T23:59:59.999Z'), new Date('2030-01-08T00:00:00.000Z')];
  for (const startsAt of [first, second, second]) await new CountVisit(days, 1).execute({ startsAt });
  await new CountVisit(days, -1).execute({ startsAt: first });
  expect([...days.counts]).toEqual([
    ['2030-01-07', 0],
    ['2030-01-08', 2],
  ]);
});

describe('the treatments of a visit', () => {
  it('are added once for a key, and listed', async () => {
    const { id } = await visits.add(aNewVisit());
    const treatments = new InMemoryTreatments(visits);
    const addTreatment = new AddTreatment(treatments);
    const { result } = await addTreatment.execute({ visitId: id, name: 'X-ray' }, KEY);
    expect(await addTreatment.execute({ visitId: id, name: 'X-ray' }, KEY)).toEqual({ result, replayed: true });
    await expect(addTreatment.execute({ visitId: id, name: '' })).rejects.toThrow(DomainError);
    expect(await new ListTreatments(treatments, visits).execute(id, { limit: 10 })).toEqual({ items: [result] });
  });

  it('need a visit', async () => {
    const treatments = new InMemoryTreatments(visits);
    const unknown = expect.objectContaining(VISIT_NOT_FOUND);
    await expect(new AddTreatment(treatments).execute({ visitId: 1n, name: 'X-ray' })).rejects.toThrow(unknown);
    await expect(new ListTreatments(treatments, visits).execute(1n, { limit: 10 })).rejects.toThrow(unknown);
  });
});
