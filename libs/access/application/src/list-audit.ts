import type { ApiKeyRepository, AuditEvent, AuditEventId } from '@animal-store/access-domain';

export const DEFAULT_AUDIT_LIMIT = 50;
export const MAX_AUDIT_LIMIT = 1_000;

export interface ListAuditInput {
  /** From 1 to `MAX_AUDIT_LIMIT`. */
  readonly limit?: number | undefined;
  /** The last event of the previous page. */
  readonly after?: bigint | undefined;
}

export interface AuditTrailPage {
  readonly events: readonly AuditEvent[];
  /** The `after` of the next page; undefined on the last page. */
  readonly next: AuditEventId | undefined;
}

export class ListAudit {
  constructor(private readonly keys: ApiKeyRepository) {}

  /** Returns the newest events first. */
  async execute({ limit = DEFAULT_AUDIT_LIMIT, after }: ListAuditInput = {}): Promise<AuditTrailPage> {
    const bounded = Math.min(limit, MAX_AUDIT_LIMIT);
    const found = await this.keys.listAudit({ limit: bounded + 1, after: after as AuditEventId | undefined });
    const events = found.slice(0, bounded);
    return { events, next: found.length > bounded ? events.at(-1)?.id : undefined };
  }
}
