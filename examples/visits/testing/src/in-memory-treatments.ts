import {
  DomainError,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type Outcome,
  type Page,
  pageOf,
  type PageRequest,
} from '@animal-store/kernel';
import {
  type NewTreatment,
  type Treatment,
  type TreatmentRepository,
  VISIT_NOT_FOUND,
  type VisitReader,
} from '@animal-store/visits-domain';

export class InMemoryTreatments implements TreatmentRepository {
  private readonly treatments: Treatment[] = [];
  private readonly keys = new Map<string, Treatment>();

  constructor(private readonly visits: VisitReader) {}

  async add({ visitId, name }: NewTreatment, key?: IdempotencyKey): Promise<Outcome<Treatment>> {
    if (!(await this.visits.find(visitId))) throw new DomainError(VISIT_NOT_FOUND);
    const keyName = key && `${String(key.clientId)} ${key.key}`;
    const recorded = keyName === undefined ? undefined : this.keys.get(keyName);
    if (recorded && (recorded.visitId !== visitId || recorded.name !== name)) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
    if (recorded) return { result: recorded, replayed: true };
    const treatment = { id: BigInt(this.treatments.length + 1), visitId, name };
    this.treatments.push(treatment);
    if (keyName !== undefined) this.keys.set(keyName, treatment);
    return { result: treatment, replayed: false };
  }

  async list(visitId: bigint, page: PageRequest): Promise<Page<Treatment>> {
    return pageOf(
      this.treatments.filter((treatment) => treatment.visitId === visitId),
      page,
    );
  }
}
