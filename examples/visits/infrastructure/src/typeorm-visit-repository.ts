import { appendEvents, BatchedRepository, runOnce, throwConstraintErrors } from '@animal-store/database';
import { DomainError, type IdempotencyKey, type Outcome } from '@animal-store/kernel';
import { VisitBooked } from '@animal-store/visits-contract';
import { type NewVisit, Visit, VISIT_NOT_FOUND, VISIT_OVERLAPS, type VisitCommand, VisitRepository } from '@animal-store/visits-domain';
import type { DataSource } from 'typeorm';
import { VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

const throwDomainErrors = throwConstraintErrors({ visits_no_overlap: VISIT_OVERLAPS });

export class TypeOrmVisitRepository extends VisitRepository {
  private readonly visits: BatchedRepository<VisitEntity>;

  constructor(private readonly dataSource: DataSource) {
    super();
    const keys = dataSource.getRepository(VisitIdempotencyKeyEntity);
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity), keys, { publishes: VisitBooked });
  }

  override async add(visit: NewVisit): Promise<Visit> {
    return Visit.rehydrate({ id: await this.visits.insert(visit).catch(throwDomainErrors), ...visit });
  }

  override async addOnce(visit: NewVisit, key: IdempotencyKey): Promise<Outcome<Visit>> {
    const { id, row, replayed } = await this.visits.insertOnce(visit, key).catch(throwDomainErrors);
    const recorded = Visit.rehydrate({ id, ...row });
    if (replayed) visit.assertSameAs(recorded);
    return { result: recorded, replayed };
  }

  override async change(id: bigint, { name, key, event, precondition, change }: VisitCommand): Promise<Outcome<Visit>> {
    const request = { command: name, visitId: id };
    const { result, replayed } = await runOnce(this.dataSource, VisitIdempotencyKeyEntity, key, request, async (manager) => {
      const visits = manager.getRepository(VisitEntity);
      const row = await visits.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!row) throw new DomainError(VISIT_NOT_FOUND);
      const visit = Visit.rehydrate(row);
      precondition?.(visit);
      const changed = change(visit);
      if (changed !== visit) {
        const { id: _id, ...values } = changed;
        await visits.update({ id }, values);
        const { petId, startsAt } = changed;
        if (event) await appendEvents(manager, event.of({ visitId: id, petId, startsAt }));
      }
      return changed;
    });
    return { result: Visit.rehydrate(result), replayed };
  }
}
