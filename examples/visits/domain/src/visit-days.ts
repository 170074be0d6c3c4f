import type { OrderedPage, OrderedPageRequest } from '@animal-store/kernel';

/** How many visits a day has, without cancelled ones. */
export interface VisitDay {
  readonly id: bigint;
  /** In UTC, such as 2026-11-26. */
  readonly day: string;
  readonly visits: number;
}

export const VISIT_DAY_RULE = 'must be a day such as 2030-01-07';

export function isVisitDay(value: unknown): value is string {
  return (
    typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) && dayOf(new Date(value)) === value
  );
}

export const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** Counts visits per day. */
export abstract class VisitDays {
  abstract add(day: string, visits: number): Promise<void>;
}

export abstract class VisitDayReader {
  abstract list(page: OrderedPageRequest<'day'>): Promise<OrderedPage<VisitDay>>;
}
