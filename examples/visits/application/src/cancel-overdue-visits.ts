import { type Clock, MAX_PAGE_SIZE, type OrderedPage } from '@animal-store/kernel';
import { VisitCancelled } from '@animal-store/visits-contract';
import { type Visit, type VisitReader, type VisitRepository, VisitStatus, type VisitSummary } from '@animal-store/visits-domain';

const DAY_MS = 24 * 3_600_000;

/** Cancels booked visits that should have started a day ago. */
export class CancelOverdueVisits {
  constructor(
    private readonly visits: VisitRepository,
    private readonly reader: VisitReader,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    const order = { by: 'startsAt', to: new Date(this.clock.now().getTime() - DAY_MS) } as const;
    let page: OrderedPage<VisitSummary> | undefined;
    do {
      page = await this.reader.list({ status: VisitStatus.Booked }, { limit: MAX_PAGE_SIZE, order, after: page?.next });
      // Another request may have changed the visit since it was listed.
      const change = (visit: Visit) => (visit.isBooked() ? visit.cancel() : visit);
      for (const { id } of page.items) await this.visits.change(id, { name: 'cancelOverdueVisits', event: VisitCancelled, change });
    } while (page.next);
  }
}
