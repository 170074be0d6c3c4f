import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';
import type { VisitStatus, VisitSummary, VisitView } from './visit.js';

/** Selects visits that match all members. Undefined members are ignored. */
export interface VisitFilter {
  readonly petId?: bigint | undefined;
  readonly status?: VisitStatus | undefined;
}

/** Reads visits. Several callers may get the same object. */
export abstract class VisitReader {
  abstract find(id: bigint): Promise<VisitView | undefined>;

  abstract list(filter: VisitFilter, page: OrderedPageRequest<'startsAt'>): Promise<OrderedPage<VisitSummary>>;
}
