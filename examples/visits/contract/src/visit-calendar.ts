/** What other contexts may ask about visits. Existing methods never change. */
export abstract class VisitCalendar {
  /**
   * Returns how many visits a day has, without cancelled ones. Follows bookings and cancellations after a moment.
   * @param day in UTC, such as 2026-11-26
   */
  abstract countOn(day: string): Promise<number>;
}
