import { hash } from 'node:crypto';
import {
  ApiKey,
  type ApiKeyFilter,
  type ApiKeyId,
  ApiKeyRepository,
  type ApiKeySecret,
  type AuditEntry,
  type AuditEvent,
  type AuditPage,
  type Client,
  clientChanged,
  keyCreated,
  keyRevoked,
  keyRotated,
  type KeyRotation,
  type NewApiKey,
  type Operator,
} from '@animal-store/access-domain';
import { Batcher, retryRead } from '@animal-store/database';
import type { DataSource, EntityManager, SelectQueryBuilder, UpdateResult } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { ClientEntity } from './client.entity.js';

const MINUTE_MS = 60_000;
/** Maximum number of hashes per query. */
const MAX_FINDS = 100;

export class TypeOrmApiKeyRepository extends ApiKeyRepository {
  /** Concurrent calls share a query, so a flood of unknown keys does not use up the connections. */
  private readonly finds = new Batcher<string, ApiKey | undefined>({ maxSize: MAX_FINDS, run: (hashes) => this.findAll(hashes) });

  constructor(
    private readonly dataSource: DataSource,
    private readonly operator: Operator,
  ) {
    super();
  }

  override findBySecret(secret: ApiKeySecret): Promise<ApiKey | undefined> {
    return this.finds.submit(hashOf(secret));
  }

  private async findAll(hashes: readonly string[]): Promise<(ApiKey | undefined)[]> {
    const bytes = hashes.map((each) => Buffer.from(each, 'hex'));
    const query = selectKeys(this.dataSource.manager).where('key.hash = ANY(:bytes)', { bytes });
    const entities = await retryRead(() => query.getMany());
    const keys = new Map(entities.map((entity) => [entity.hash.toString('hex'), toDomain(entity)]));
    return hashes.map((each) => keys.get(each));
  }

  override async list({ clientName, prefix }: ApiKeyFilter = {}): Promise<readonly ApiKey[]> {
    const query = selectKeys(this.dataSource.manager).orderBy('key.id');
    if (clientName !== undefined) query.andWhere('client.name = :clientName', { clientName });
    if (prefix !== undefined) query.andWhere('key.prefix = :prefix', { prefix });
    return (await query.getMany()).map(toDomain);
  }

  override async add(key: NewApiKey): Promise<ApiKey> {
    return this.dataSource.transaction((manager) => this.create(manager, key));
  }

  override async addIfNone(key: NewApiKey): Promise<ApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const client = await clientOf(manager, key);
      // Concurrent calls wait for this lock and then see the new key.
      await manager.findOneOrFail(ClientEntity, { where: { id: client.id }, lock: { mode: 'for_no_key_update' } });
      const others = await selectKeys(manager).where('client.id = :id', { id: client.id }).getMany();
      const hasKey = others.some((other) => !toDomain(other).hasEndedAt(key.createdAt));
      return hasKey ? undefined : this.create(manager, key);
    });
  }

  override async update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const key = await lock(manager, id);
      if (!key) return undefined;
      const changed = await updateLifetime(manager, key, change(key));
      if (!key.revokedAt && changed.revokedAt) await this.audit(manager, [keyRevoked(changed)]);
      return changed;
    });
  }

  override async replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const key = await lock(manager, id);
      if (!key) return undefined;
      const rotation = change(key);
      const retired = await updateLifetime(manager, key, rotation.retired);
      const successor = await insert(manager, await clientOf(manager, rotation.successor), rotation.successor);
      await this.audit(manager, [keyRotated(retired, successor)]);
      return { retired, successor };
    });
  }

  override async listClients(): Promise<readonly Client[]> {
    return (await this.dataSource.manager.find(ClientEntity, { order: { id: 'ASC' } })).map(toClient);
  }

  override async updateClient(name: string, change: (client: Client) => Client): Promise<Client | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const entity = await manager.findOne(ClientEntity, { where: { name }, lock: { mode: 'for_no_key_update' } });
      return entity ? toClient(await this.changeClient(manager, entity, change)) : undefined;
    });
  }

  override async listAudit({ limit, after }: AuditPage): Promise<readonly AuditEvent[]> {
    const query = this.dataSource.manager.createQueryBuilder(AuditEventEntity, 'event');
    if (after !== undefined) {
      const position = query.subQuery().select('last.occurred_at, last.id').from(AuditEventEntity, 'last').where('last.id = :after');
      query.where(`(event.occurred_at, event.id) < ${position.getQuery()}`, { after });
    }
    const entities = await query.orderBy('event.occurred_at', 'DESC').addOrderBy('event.id', 'DESC').limit(limit).getMany();
    return entities.map(({ keyId, keyPrefix, ...entity }) => ({
      ...(entity as object as AuditEvent),
      keyId: keyId ?? undefined,
      keyPrefix: keyPrefix ?? undefined,
    }));
  }

  override async recordUse(id: ApiKeyId, at: Date): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .update(ApiKeyEntity)
      .set({ lastUsedAt: at })
      .where('id = :id AND (last_used_at IS NULL OR last_used_at <= :before OR last_used_at >= :after)', {
        id,
        before: new Date(at.getTime() - MINUTE_MS),
        after: new Date(at.getTime() + MINUTE_MS),
      })
      .execute();
  }

  private async create(manager: EntityManager, key: NewApiKey): Promise<ApiKey> {
    let client = await clientOf(manager, key);
    const { rateLimit } = key;
    if (rateLimit !== undefined) {
      client = await manager.findOneOrFail(ClientEntity, { where: { id: client.id }, lock: { mode: 'for_no_key_update' } });
      client = await this.changeClient(manager, client, (before) => ({ ...before, rateLimit }));
    }
    const added = await insert(manager, client, key);
    await this.audit(manager, [keyCreated(added)]);
    return added;
  }

  /** The entity must be locked. */
  private async changeClient(manager: EntityManager, entity: ClientEntity, change: (client: Client) => Client): Promise<ClientEntity> {
    const before = toClient(entity);
    const after = change(before);
    const columns = {
      rateLimit: after.rateLimit ?? null,
      // A date that cannot be read cannot be written.
      ...(after.disabledAt !== before.disabledAt && { disabledAt: after.disabledAt ?? null }),
    };
    assertStored(await manager.update(ClientEntity, { id: entity.id }, columns));
    const stored = await manager.findOneByOrFail(ClientEntity, { id: entity.id });
    await this.audit(manager, clientChanged(before, toClient(stored)));
    return stored;
  }

  private async audit(manager: EntityManager, entries: readonly AuditEntry[]): Promise<void> {
    for (const { keyId = null, keyPrefix = null, ...entry } of entries) {
      await manager.insert(AuditEventEntity, { ...entry, keyId, keyPrefix, operator: this.operator });
    }
  }
}

/** Returns the SHA-256 hash as 64 hexadecimal digits. A secret has 256 random bits, so salt and key stretching are not needed. */
function hashOf(secret: ApiKeySecret): string {
  return hash('sha256', secret, 'hex');
}

function selectKeys(manager: EntityManager): SelectQueryBuilder<ApiKeyEntity> {
  return manager.createQueryBuilder(ApiKeyEntity, 'key').innerJoinAndSelect('key.client', 'client');
}

async function lock(manager: EntityManager, id: ApiKeyId): Promise<ApiKey | undefined> {
  const entity = await selectKeys(manager).where('key.id = :id', { id }).setLock('pessimistic_write', undefined, ['key']).getOne();
  return entity ? toDomain(entity) : undefined;
}

/** Returns the client of the key. Creates it if it does not exist. */
async function clientOf(manager: EntityManager, { clientName: name, createdAt }: NewApiKey): Promise<ClientEntity> {
  const existing = await manager.findOneBy(ClientEntity, { name });
  if (existing) return existing;
  // Waits for a concurrent transaction that inserts the same client.
  await manager.createQueryBuilder().insert().into(ClientEntity).values({ name, createdAt }).orIgnore().execute();
  return manager.findOneByOrFail(ClientEntity, { name });
}

async function insert(manager: EntityManager, client: ClientEntity, key: NewApiKey): Promise<ApiKey> {
  const { identifiers } = await manager.insert(ApiKeyEntity, {
    client: { id: client.id },
    hash: Buffer.from(hashOf(key.secret), 'hex'),
    prefix: key.prefix,
    scopes: [...key.scopes],
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
  });
  const { id } = (identifiers[0] ?? {}) as { readonly id?: ApiKeyId };
  const stored = id === undefined ? undefined : await lock(manager, id);
  if (!stored) throw new Error('The database did not store the API key, for example because of a trigger.');
  return stored;
}

/** Writes the dates that have changed. One that cannot be read cannot be written. */
async function updateLifetime(manager: EntityManager, before: ApiKey, after: ApiKey): Promise<ApiKey> {
  const columns = {
    ...(after.expiresAt !== before.expiresAt && { expiresAt: after.expiresAt ?? null }),
    ...(after.revokedAt !== before.revokedAt && { revokedAt: after.revokedAt ?? null }),
  };
  if (Object.keys(columns).length === 0) return after;
  assertStored(await manager.update(ApiKeyEntity, { id: after.id }, columns));
  return (await lock(manager, after.id)) ?? after;
}

/** @throws Error if a trigger rejected the change: a key must not seem revoked that is not */
function assertStored({ affected }: UpdateResult): void {
  if (affected === 0) throw new Error('The database did not store the change, for example because of a trigger.');
}

function toDomain({ client, expiresAt, revokedAt, lastUsedAt, ...entity }: ApiKeyEntity): ApiKey {
  return ApiKey.rehydrate({
    ...entity,
    client: toClient(client),
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    lastUsedAt: lastUsedAt ?? undefined,
  });
}

function toClient({ id, name, rateLimit, disabledAt }: ClientEntity): Client {
  return { id, name, rateLimit: rateLimit ?? undefined, disabledAt: disabledAt ?? undefined } as Client;
}
