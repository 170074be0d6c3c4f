import {
  type Clock,
  DomainError,
  type IdempotencyKey,
  MAX_PAGE_SIZE,
  type Outcome,
  type Page,
  type PageRequest,
  type Precondition,
} from '@animal-store/kernel';
import type { CataloguedPet, PetCatalogue } from '@animal-store/pets-contract';
import { VisitCancelled } from '@animal-store/visits-contract';
import {
  assertBooked,
  changeVisit,
  moveVisit,
  NewVisit,
  type NewVisitInput,
  PET_UNKNOWN,
  type Visit,
  VISIT_NOT_FOUND,
  type VisitChanges,
  type VisitDays,
  type VisitFilter,
  type VisitRepository,
  VisitStatus,
} from '@animal-store/visits-domain';

const DAY_MS = 24 * 3_600_000;

export class CreateVisit {
  constructor(
    private readonly visits: VisitRepository,
    private readonly pets: PetCatalogue,
  ) {}

  /**
   * Books a visit. If the key was used before, returns what was created with it instead.
   * @throws DomainError INVALID_VISIT, PET_UNKNOWN, VISIT_OVERLAPS, IDEMPOTENCY_KEY_REUSED
   */
  async execute(input: NewVisitInput, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const visit = NewVisit.create(input);
    if (!(await this.pets.exists(visit.petId))) throw new DomainError(PET_UNKNOWN);
    return this.visits.add(visit, key);
  }
}

export class GetVisit {
  constructor(private readonly visits: VisitRepository) {}

  /** @throws DomainError VISIT_NOT_FOUND */
  async execute(id: bigint): Promise<Visit> {
    const visit = await this.visits.find(id);
    if (!visit) throw new DomainError(VISIT_NOT_FOUND);
    return visit;
  }
}

/** A visit with the name of its animal, or null if the animal is unknown. */
export type ListedVisit = Visit & { readonly petName: CataloguedPet['name'] | null };

export class ListVisits {
  constructor(
    private readonly visits: VisitRepository,
    private readonly pets: PetCatalogue,
  ) {}

  async execute(filter: VisitFilter, request: PageRequest<'startsAt'>): Promise<Page<ListedVisit>> {
    const { items, next } = await this.visits.list(filter, request);
    // One call for the page, not one for each visit.
    const pets = await this.pets.findByIds(items.map(({ petId }) => petId));
    return { items: items.map((visit) => ({ ...visit, petName: pets.get(visit.petId)?.name ?? null })), next };
  }
}

/** Throws DomainError VISIT_NOT_FOUND, VISIT_NOT_BOOKED, PRECONDITION_FAILED and IDEMPOTENCY_KEY_REUSED, like the other commands. */
export class ChangeVisit {
  constructor(private readonly visits: VisitRepository) {}

  /** @throws DomainError INVALID_VISIT, VISIT_OVERLAPS */
  execute(id: bigint, changes: VisitChanges, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const change = (visit: Visit) => changeVisit(visit, changes);
    return this.visits.change(id, { name: 'changeVisit', input: changes, key, precondition, change });
  }
}

export class DeleteVisit {
  constructor(private readonly visits: VisitRepository) {}

  async execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<undefined>> {
    const change = (visit: Visit) => {
      assertBooked(visit);
      return undefined;
    };
    return this.visits.change(id, { name: 'deleteVisit', key, precondition, change, event: VisitCancelled });
  }
}

export class CheckInVisit {
  constructor(private readonly visits: VisitRepository) {}

  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const change = (visit: Visit) => moveVisit(visit, VisitStatus.CheckedIn);
    return this.visits.change(id, { name: 'checkInVisit', key, precondition, change });
  }
}

export class CancelVisit {
  constructor(private readonly visits: VisitRepository) {}

  execute(id: bigint, precondition: Precondition, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    const change = (visit: Visit) => moveVisit(visit, VisitStatus.Cancelled);
    return this.visits.change(id, { name: 'cancelVisit', key, precondition, change, event: VisitCancelled });
  }
}

/** Cancels booked visits that should have started a day ago. */
export class CancelOverdueVisits {
  constructor(
    private readonly visits: VisitRepository,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    const order = { by: 'startsAt', to: new Date(this.clock.now().getTime() - DAY_MS) } as const;
    // Another request may have changed a visit since it was listed.
    const change = (visit: Visit) => (visit.status === VisitStatus.Booked ? moveVisit(visit, VisitStatus.Cancelled) : visit);
    let page: Page<Visit> | undefined;
    do {
      page = await this.visits.list({ status: VisitStatus.Booked }, { limit: MAX_PAGE_SIZE, order, after: page?.next });
      for (const { id } of page.items) await this.visits.change(id, { name: 'cancelOverdueVisits', event: VisitCancelled, change });
    } while (page.next);
  }
}

export class CountVisit {
  constructor(private readonly days: VisitDays) {}

  /** Adds a visit to its day, or removes it with the count -1. */
  execute(startsAt: Date, count: 1 | -1): Promise<void> {
    return this.days.add(startsAt.toISOString().slice(0, 10), count);
  }
}
