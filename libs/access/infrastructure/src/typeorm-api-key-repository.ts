import { hash } from 'node:crypto';
import {
  type ApiKey,
  type ApiKeyRepository,
  type ApiKeySecret,
  type AuditEvent,
  type Client,
  type ClientChange,
  type KeyRotation,
  type NewApiKey,
  notBeforeCreation,
  type RotatedApiKey,
} from '@animal-store/access-domain';
import { Batcher, retryRead } from '@animal-store/database';
import { Injectable, Optional } from '@nestjs/common';
import { DataSource, type EntityManager, type SelectQueryBuilder } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { ClientEntity } from './client.entity.js';

const MINUTE_MS = 60_000;
/** Maximum number of hashes per query. */
const MAX_FINDS = 100;

@Injectable()
export class TypeOrmApiKeyRepository implements ApiKeyRepository {
  /** Concurrent calls share a query, so a flood of unknown keys does not use up the connections. */
  private readonly finds = new Batcher<string, ApiKey | undefined>({ maxSize: MAX_FINDS, run: (hashes) => this.findAll(hashes) });

  /** @param operator for the audit trail */
  constructor(
    private readonly dataSource: DataSource,
    @Optional() private readonly operator = 'unknown',
  ) {}

  findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    return this.finds.submit(hashOf(secret));
  }

  private async findAll(hashes: readonly string[]): Promise<(ApiKey | undefined)[]> {
    const bytes = hashes.map((each) => Buffer.from(each, 'hex'));
    const query = selectKeys(this.dataSource.manager).addSelect('key.hash').where('key.hash = ANY(:bytes)', { bytes });
    const entities = await retryRead(() => query.getMany());
    const keys = new Map(entities.map(({ hash: found, ...key }) => [found.toString('hex'), key]));
    return hashes.map((each) => keys.get(each));
  }

  /** In the background, so it must not wait for a lock with a connection of the pool. */
  async recordUse(id: bigint, at: Date): Promise<void> {
    const [before, after] = [new Date(at.getTime() - MINUTE_MS), new Date(at.getTime() + MINUTE_MS)];
    await this.dataSource.query(
      `UPDATE access.api_keys SET last_used_at = $2 WHERE id = (
         SELECT id FROM access.api_keys WHERE id = $1 AND (last_used_at IS NULL OR last_used_at <= $3 OR last_used_at >= $4)
         FOR NO KEY UPDATE SKIP LOCKED
       )`,
      [id, at, before, after],
    );
  }

  list(clientName?: string): Promise<ApiKey[]> {
    const query = selectKeys(this.dataSource.manager).orderBy('key.id');
    return (clientName === undefined ? query : query.where('client.name = :clientName', { clientName })).getMany();
  }

  add(key: NewApiKey): Promise<ApiKey> {
    return this.dataSource.transaction(async (manager) => {
      const added = await insertKey(manager, await findOrInsertClient(manager, key.clientName), key);
      await this.audit(manager, 'create', added, { scopes: added.scopes.join(' '), expiresAt: added.expiresAt });
      return added;
    });
  }

  revoke(id: bigint, now: Date): Promise<ApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const key = await lockKey(manager, id);
      if (!key || key.revokedAt) return key ?? undefined;
      const revoked = await updateKey(manager, id, { revokedAt: notBeforeCreation(key, now) });
      stored(revoked.revokedAt);
      await this.audit(manager, 'revoke', revoked);
      return revoked;
    });
  }

  rotate(id: bigint, rotate: (key: ApiKey) => KeyRotation): Promise<RotatedApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const old = await lockKey(manager, id);
      if (!old) return undefined;
      const { expiresAt, successor } = rotate(old);
      const retired = await updateKey(manager, id, { expiresAt });
      const key = await insertKey(manager, old.client, successor);
      const details = { expiresAt: retired.expiresAt, successorId: String(key.id), successorPrefix: key.prefix };
      await this.audit(manager, 'rotate', retired, details);
      return { key, secret: successor.secret, retired };
    });
  }

  listClients(): Promise<Client[]> {
    return this.dataSource.manager.find(ClientEntity, { order: { id: 'ASC' } });
  }

  changeClient(name: string, change: (client: Client) => ClientChange | undefined): Promise<Client | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const before = await manager.findOne(ClientEntity, { where: { name }, lock: { mode: 'for_no_key_update' } });
      const changes = before && change(before);
      if (!changes) return before ?? undefined;
      const { affected } = await manager.update(ClientEntity, { id: before.id }, changes);
      const after = stored(affected === 1 ? await manager.findOneBy(ClientEntity, { id: before.id }) : null);
      if (before.rateLimit !== after.rateLimit)
        await this.audit(manager, 'set-rate-limit', after, { from: before.rateLimit, to: after.rateLimit });
      if (!before.disabledAt !== !after.disabledAt) await this.audit(manager, after.disabledAt ? 'disable' : 'enable', after);
      return after;
    });
  }

  listAudit(limit: number): Promise<AuditEvent[]> {
    return this.dataSource.manager.find(AuditEventEntity, { order: { occurredAt: 'DESC', id: 'DESC' }, take: limit });
  }

  private async audit(manager: EntityManager, action: string, subject: ApiKey | Client, details: object = {}): Promise<void> {
    const client = 'client' in subject ? subject.client : subject;
    const key = 'client' in subject ? { keyId: subject.id, keyPrefix: subject.prefix } : { keyId: null, keyPrefix: null };
    const event = { operator: this.operator, action, clientId: client.id, clientName: client.name, ...key, details };
    const { identifiers } = await manager.insert(AuditEventEntity, event);
    stored(identifiers[0]);
  }
}

/** Returns the SHA-256 hash as 64 hexadecimal digits. A secret has 256 random bits, so salt and key stretching are not needed. */
function hashOf(secret: ApiKeySecret): string {
  return hash('sha256', secret, 'hex');
}

function selectKeys(manager: EntityManager): SelectQueryBuilder<ApiKeyEntity> {
  return manager.createQueryBuilder(ApiKeyEntity, 'key').innerJoinAndSelect('key.client', 'client');
}

function readKey(manager: EntityManager, id: bigint): Promise<ApiKey | null> {
  return selectKeys(manager).where('key.id = :id', { id }).getOne();
}

function lockKey(manager: EntityManager, id: bigint): Promise<ApiKey | null> {
  return selectKeys(manager).where('key.id = :id', { id }).setLock('pessimistic_write', undefined, ['key']).getOne();
}

async function findOrInsertClient(manager: EntityManager, name: string): Promise<Client> {
  const existing = await manager.findOneBy(ClientEntity, { name });
  if (existing) return existing;
  // Waits for a concurrent transaction that inserts the same client.
  await manager.createQueryBuilder().insert().into(ClientEntity).values({ name }).orIgnore().execute();
  return stored(await manager.findOneBy(ClientEntity, { name }));
}

async function insertKey(
  manager: EntityManager,
  client: Client,
  { secret, prefix, scopes, createdAt, expiresAt }: NewApiKey,
): Promise<ApiKey> {
  const columns = { client: { id: client.id }, prefix, scopes: [...scopes], createdAt, expiresAt };
  const { identifiers } = await manager.insert(ApiKeyEntity, { ...columns, hash: Buffer.from(hashOf(secret), 'hex') });
  const [inserted] = identifiers as ({ readonly id: bigint } | undefined)[];
  return stored(inserted && (await readKey(manager, inserted.id)));
}

async function updateKey(manager: EntityManager, id: bigint, columns: { expiresAt: Date } | { revokedAt: Date }): Promise<ApiKey> {
  const { affected } = await manager.update(ApiKeyEntity, { id }, columns);
  return stored(affected === 1 ? await readKey(manager, id) : null);
}

/** Returns the row as the database stored it. Throws if a trigger rejected it: a key must not seem to be revoked that is not. */
function stored<Row>(row: Row | null | undefined): Row {
  if (row) return row;
  throw new Error('The database did not store the change, for example because of a trigger.');
}
