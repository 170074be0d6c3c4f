import { EventSubscription, OnEvent } from '@animal-store/database';
import type { EventPayload } from '@animal-store/kernel';
import { CountVisit } from '@animal-store/visits-application';
import { VisitBooked, VisitCancelled } from '@animal-store/visits-contract';
import { Injectable } from '@nestjs/common';

@Injectable()
@EventSubscription('visits-per-day')
export class VisitsPerDay {
  constructor(private readonly countVisit: CountVisit) {}

  @OnEvent(VisitBooked)
  booked({ startsAt }: EventPayload<typeof VisitBooked>): Promise<void> {
    return this.countVisit.execute(startsAt, 1);
  }

  @OnEvent(VisitCancelled)
  cancelled({ startsAt }: EventPayload<typeof VisitCancelled>): Promise<void> {
    return this.countVisit.execute(startsAt, -1);
  }
}
