import type { IdempotencyKey, Page, PageRequest } from '@animal-store/kernel';
import type { VisitCatalogue } from '@animal-store/visits-contract';
import {
  type CreatedVisit,
  type NewVisit,
  Visit,
  type VisitFilter,
  type VisitReader,
  type VisitRepository,
  type VisitView,
} from '@animal-store/visits-domain';

/** In-memory adapter of the ports, for the specs of other layers and contexts. */
export class InMemoryVisits implements VisitRepository, VisitReader, VisitCatalogue {
  private readonly visits: Visit[] = [];
  private readonly keys = new Map<string, Visit>();

  async add(visit: NewVisit): Promise<Visit> {
    return this.insert(visit);
  }

  async addOnce(visit: NewVisit, { clientId, key }: IdempotencyKey): Promise<CreatedVisit> {
    const name = `${String(clientId)} ${key}`;
    const existing = this.keys.get(name);
    if (existing) {
      visit.assertSameAs(existing);
      return { visit: existing, replayed: true };
    }
    const added = this.insert(visit);
    this.keys.set(name, added);
    return { visit: added, replayed: false };
  }

  async find(id: bigint): Promise<VisitView | undefined> {
    return this.visits.find((visit) => visit.id === id);
  }

  async exists(id: bigint): Promise<boolean> {
    return (await this.find(id)) !== undefined;
  }

  async list(_filter: VisitFilter, { limit, after }: PageRequest): Promise<Page<VisitView>> {
    const matching = this.visits.filter((visit) => after === undefined || visit.id > after);
    const items = matching.slice(0, limit);
    return { items, next: matching.length > limit ? items.at(-1)?.id : undefined };
  }

  private insert(visit: NewVisit): Visit {
    const added = Visit.rehydrate({ id: BigInt(this.visits.length + 1), ...visit });
    this.visits.push(added);
    return added;
  }
}
