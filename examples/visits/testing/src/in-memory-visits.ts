import {
  DomainError,
  type DomainEvent,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type OrderedPage,
  type OrderedPageRequest,
  type Outcome,
  pageOf,
} from '@animal-store/kernel';
import {
  type NewVisit,
  type Visit,
  VISIT_NOT_FOUND,
  VISIT_OVERLAPS,
  type VisitCommand,
  type VisitFilter,
  type VisitReader,
  type VisitRepository,
  VisitStatus,
  type VisitSummary,
} from '@animal-store/visits-domain';

interface Recorded {
  /** The command and its visit, or empty for a creation. */
  readonly request: string;
  readonly visit: Visit;
}

const MINUTE_MS = 60_000;

/** In-memory adapter of the ports, for the specs of other layers and contexts. */
export class InMemoryVisits implements VisitRepository, VisitReader {
  private readonly visits: Visit[] = [];
  private readonly keys = new Map<string, Recorded>();
  /** The events of changed visits. */
  readonly events: DomainEvent[] = [];

  async add(visit: NewVisit): Promise<Visit> {
    return this.insert(visit);
  }

  async addOnce(visit: NewVisit, key: IdempotencyKey): Promise<Outcome<Visit>> {
    const outcome = this.once(key, '', () => this.insert(visit));
    if (outcome.replayed) visit.assertSameAs(outcome.result);
    return outcome;
  }

  async change(id: bigint, { name, key, event, precondition, change }: VisitCommand): Promise<Outcome<Visit>> {
    return this.once(key, `${name} ${String(id)}`, () => {
      const index = this.visits.findIndex((visit) => visit.id === id);
      const visit = this.visits[index];
      if (!visit) throw new DomainError(VISIT_NOT_FOUND);
      precondition?.(visit);
      const changed = change(visit);
      if (changed === visit) return visit;
      this.visits[index] = changed;
      const { petId, startsAt } = changed;
      if (event) this.events.push(event.of({ visitId: id, petId, startsAt }));
      return changed;
    });
  }

  async find(id: bigint): Promise<Visit | undefined> {
    const visit = this.visits.find((each) => each.id === id);
    return visit && { ...visit };
  }

  async list({ petId, status }: VisitFilter, page: OrderedPageRequest<'startsAt'>): Promise<OrderedPage<VisitSummary>> {
    const matching = this.visits.filter(
      (visit) => (petId === undefined || visit.petId === petId) && (status === undefined || visit.status === status),
    );
    return pageOf(
      matching.map(({ notes: _notes, ...summary }): VisitSummary => summary),
      page,
    );
  }

  private once(key: IdempotencyKey | undefined, request: string, command: () => Visit): Outcome<Visit> {
    const name = key && `${String(key.clientId)} ${key.key}`;
    const recorded = name === undefined ? undefined : this.keys.get(name);
    if (recorded && recorded.request !== request) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
    if (recorded) return { result: recorded.visit, replayed: true };
    const visit = command();
    if (name !== undefined) this.keys.set(name, { request, visit });
    return { result: visit, replayed: false };
  }

  private insert(visit: NewVisit): Visit {
    const added = { id: BigInt(this.visits.length + 1), ...visit };
    if (this.visits.some((other) => overlap(added, other))) throw new DomainError(VISIT_OVERLAPS);
    this.visits.push(added);
    return added;
  }
}

function overlap(one: Visit, other: Visit): boolean {
  const endOf = ({ startsAt, durationMinutes }: Visit) => startsAt.getTime() + durationMinutes * MINUTE_MS;
  const isActive = other.status !== VisitStatus.Cancelled;
  return one.petId === other.petId && isActive && one.startsAt.getTime() < endOf(other) && other.startsAt.getTime() < endOf(one);
}
