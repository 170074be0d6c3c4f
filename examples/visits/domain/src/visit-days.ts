/** Counts visits per day. */
export abstract class VisitDays {
  /** @param day in UTC, such as 2026-11-26 */
  abstract add(day: string, visits: number): Promise<void>;
}
