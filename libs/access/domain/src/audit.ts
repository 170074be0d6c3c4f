/**
 * A change of a key or a client. Contains copies of names, so that it does not depend on the client and the key. Never contains a secret.
 */
export interface AuditEvent {
  readonly id: bigint;
  readonly occurredAt: Date;
  readonly databaseRole: string;
  /** Who made the change, as stated by the caller. */
  readonly operator: string;
  readonly action: string;
  readonly clientId: bigint;
  readonly clientName: string;
  readonly keyId: bigint | null;
  readonly keyPrefix: string | null;
  readonly details: object;
}
