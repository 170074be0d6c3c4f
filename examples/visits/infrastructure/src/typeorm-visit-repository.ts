import { appendEvents, BatchedRepository, runOnce, throwConstraintErrors } from '@animal-store/database';
import { DomainError, type IdempotencyKey, type Outcome, type Page, type PageRequest } from '@animal-store/kernel';
import { VisitBooked } from '@animal-store/visits-contract';
import {
  type NewVisit,
  type Visit,
  VISIT_NOT_FOUND,
  VISIT_OVERLAPS,
  type VisitCommand,
  type VisitFilter,
  type VisitRepository,
} from '@animal-store/visits-domain';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { VisitEntity, VisitIdempotencyKeyEntity } from './visit.entity.js';

const throwDomainErrors = throwConstraintErrors({ visits_no_overlap: VISIT_OVERLAPS });

@Injectable()
export class TypeOrmVisitRepository implements VisitRepository {
  private readonly visits: BatchedRepository<VisitEntity>;

  constructor(private readonly dataSource: DataSource) {
    const keys = dataSource.getRepository(VisitIdempotencyKeyEntity);
    this.visits = new BatchedRepository(dataSource.getRepository(VisitEntity), keys, { publishes: VisitBooked });
  }

  add(visit: NewVisit, key?: IdempotencyKey): Promise<Outcome<Visit>> {
    return this.visits.add(visit, key).catch(throwDomainErrors);
  }

  change<Result extends Visit | undefined>(id: bigint, command: VisitCommand<Result>): Promise<Outcome<Result>> {
    const { name, input, key, event, precondition, change } = command;
    const request = { ...input, command: name, visitId: id };
    return runOnce<Result>(this.dataSource, VisitIdempotencyKeyEntity, key, request, async (manager) => {
      const visits = manager.getRepository(VisitEntity);
      const visit = await visits.findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
      if (!visit) throw new DomainError(VISIT_NOT_FOUND);
      precondition?.(visit);
      const changed = change(visit);
      if (changed === visit) return changed;
      if (changed) {
        const { id: _id, ...values } = changed;
        await visits.update({ id }, values).catch(throwDomainErrors);
      } else {
        await visits.delete({ id });
      }
      const { petId, startsAt } = changed ?? visit;
      if (event) await appendEvents(manager, event.of({ visitId: id, petId, startsAt }));
      // As the database stored it: a trigger may have changed it.
      return (changed && (await visits.findOneByOrFail({ id }))) as Result;
    });
  }

  find(id: bigint): Promise<Visit | undefined> {
    return this.visits.findById(id);
  }

  list(filter: VisitFilter, page: PageRequest<'startsAt'>): Promise<Page<Visit>> {
    return this.visits.page(filter, page);
  }
}
