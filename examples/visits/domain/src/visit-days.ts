import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';

/** How many visits a day has, without cancelled ones. */
export interface VisitDay {
  readonly id: bigint;
  /** In UTC, such as 2026-11-26. */
  readonly day: string;
  readonly visits: number;
}

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Counts visits per day. */
export abstract class VisitDays {
  abstract add(day: string, visits: number): Promise<void>;
}

export abstract class VisitDayReader {
  abstract list(page: OrderedPageRequest<'day'>): Promise<OrderedPage<VisitDay>>;
}
