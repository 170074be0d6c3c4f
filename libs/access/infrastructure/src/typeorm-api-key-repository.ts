import {
  ApiKey,
  type ApiKeyFilter,
  type ApiKeyId,
  ApiKeyRepository,
  type KeyHash,
  type KeyRotation,
  type NewApiKey,
} from '@animal-store/access-domain';
import { retryRead } from '@animal-store/database';
import type { DataSource, EntityManager, SelectQueryBuilder } from 'typeorm';
import { ApiKeyEntity } from './api-key.entity.js';
import { ClientEntity } from './client.entity.js';

const MINUTE_MS = 60_000;

export class TypeOrmApiKeyRepository extends ApiKeyRepository {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  override async findByHash(hash: KeyHash): Promise<ApiKey | undefined> {
    const query = selectKeys(this.dataSource.manager).where('key.hash = :hash', { hash: Buffer.from(hash, 'hex') });
    const entity = await retryRead(() => query.getOne());
    return entity ? toDomain(entity) : undefined;
  }

  override async list({ clientName, prefix }: ApiKeyFilter = {}): Promise<readonly ApiKey[]> {
    const query = selectKeys(this.dataSource.manager).orderBy('key.id');
    if (clientName !== undefined) query.andWhere('client.name = :clientName', { clientName });
    if (prefix !== undefined) query.andWhere('key.prefix = :prefix', { prefix });
    return (await query.getMany()).map(toDomain);
  }

  override async add(key: NewApiKey): Promise<ApiKey> {
    return this.dataSource.transaction(async (manager) => insert(manager, await clientOf(manager, key), key));
  }

  override async addIfNone(key: NewApiKey): Promise<ApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const client = await clientOf(manager, key);
      // Who comes at the same time waits here, and then sees this one's key.
      await manager.findOneOrFail(ClientEntity, { where: { id: client.id }, lock: { mode: 'for_no_key_update' } });
      const others = await selectKeys(manager).where('client.id = :id', { id: client.id }).getMany();
      const isThere = others.some((other) => toDomain(other).stateAt(key.createdAt) === 'active');
      return isThere ? undefined : insert(manager, client, key);
    });
  }

  override async update(id: ApiKeyId, change: (key: ApiKey) => ApiKey): Promise<ApiKey | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const key = await lock(manager, id);
      return key && updateLife(manager, change(key));
    });
  }

  override async replace(id: ApiKeyId, change: (key: ApiKey) => KeyRotation<NewApiKey>): Promise<KeyRotation<ApiKey> | undefined> {
    return this.dataSource.transaction(async (manager) => {
      const key = await lock(manager, id);
      if (!key) return undefined;
      const { retired, successor } = change(key);
      return {
        retired: await updateLife(manager, retired),
        successor: await insert(manager, await clientOf(manager, successor), successor),
      };
    });
  }

  override async recordUse(id: ApiKeyId, at: Date): Promise<void> {
    await this.dataSource
      .createQueryBuilder()
      .update(ApiKeyEntity)
      .set({ lastUsedAt: at })
      .where('id = :id AND (last_used_at IS NULL OR last_used_at <= :before)', { id, before: new Date(at.getTime() - MINUTE_MS) })
      .execute();
  }
}

function selectKeys(manager: EntityManager): SelectQueryBuilder<ApiKeyEntity> {
  return manager.createQueryBuilder(ApiKeyEntity, 'key').innerJoinAndSelect('key.client', 'client');
}

async function lock(manager: EntityManager, id: ApiKeyId): Promise<ApiKey | undefined> {
  const entity = await selectKeys(manager).where('key.id = :id', { id }).setLock('pessimistic_write', undefined, ['key']).getOne();
  return entity ? toDomain(entity) : undefined;
}

/** The client that the key names, made when it is new. */
async function clientOf(manager: EntityManager, { clientName: name, createdAt }: NewApiKey): Promise<ClientEntity> {
  const known = await manager.findOneBy(ClientEntity, { name });
  if (known) return known;
  // Waits for a transaction that is just making the same client.
  await manager.createQueryBuilder().insert().into(ClientEntity).values({ name, createdAt }).orIgnore().execute();
  return manager.findOneByOrFail(ClientEntity, { name });
}

async function insert(manager: EntityManager, client: ClientEntity, key: NewApiKey): Promise<ApiKey> {
  const { identifiers } = await manager.insert(ApiKeyEntity, {
    client: { id: client.id },
    hash: Buffer.from(key.hash, 'hex'),
    prefix: key.prefix,
    scopes: [...key.scopes],
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
  });
  const { id } = identifiers[0] as { id: bigint };
  return ApiKey.rehydrate({ ...key, id, client: { id: client.id, name: client.name } });
}

async function updateLife(manager: EntityManager, key: ApiKey): Promise<ApiKey> {
  await manager.update(ApiKeyEntity, { id: key.id }, { expiresAt: key.expiresAt ?? null, revokedAt: key.revokedAt ?? null });
  return key;
}

function toDomain({ client, expiresAt, revokedAt, lastUsedAt, ...entity }: ApiKeyEntity): ApiKey {
  return ApiKey.rehydrate({
    ...entity,
    client: { id: client.id, name: client.name },
    expiresAt: expiresAt ?? undefined,
    revokedAt: revokedAt ?? undefined,
    lastUsedAt: lastUsedAt ?? undefined,
  });
}
