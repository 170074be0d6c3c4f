import { ok } from 'node:assert/strict';
import { poolOf, PreparedStatement } from '@animal-store/database';
import { DomainError } from '@animal-store/kernel';
import {
  type CreatedPet,
  IDEMPOTENCY_KEY_REUSED,
  type IdempotencyKey,
  type NewPet,
  Pet,
  PetRepository,
  type PetView,
} from '@animal-store/pets-domain';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

/** One statement is one transaction. Numbers are drawn beforehand: PostgreSQL promises no order of what INSERT returns. */
const ADD_PETS = new PreparedStatement(
  'add_pets',
  `
    WITH numbered AS MATERIALIZED (
      SELECT nextval('pets.pets_id_seq') AS id, pet.*
      FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS pet (name, category_id, status, ordinal)
    ), added AS (
      INSERT INTO pets.pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
      SELECT id, name, category_id, status FROM numbered
    )
    SELECT id FROM numbered ORDER BY ordinal`,
  ([id]: [string]) => BigInt(id),
);

/**
 * Pets and the records of their keys commit together. No row comes back for a key that is known; a repetition that arrives at
 * once waits in the unique index until the first one has committed or failed. Keys are taken in one order: two processes with
 * the same keys wait for each other in turn, never in a circle.
 */
const ADD_PETS_ONCE = new PreparedStatement(
  'add_pets_once',
  `
    WITH numbered AS MATERIALIZED (
      SELECT nextval('pets.pets_id_seq') AS id, pet.*
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[])
        WITH ORDINALITY AS pet (client_id, key, name, category_id, status, ordinal)
    ), record AS (
      INSERT INTO pets.idempotency_keys (client_id, key, pet_id, name, category_id, status)
      SELECT client_id, key, id, name, category_id, status FROM numbered ORDER BY client_id, key COLLATE "C"
      ON CONFLICT DO NOTHING
      RETURNING pet_id
    ), added AS (
      INSERT INTO pets.pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
      SELECT id, name, category_id, status FROM numbered JOIN record ON pet_id = id
    )
    SELECT ordinal, id FROM numbered JOIN record ON pet_id = id`,
  ([ordinal, id]: [string, string]) => ({ ordinal: Number(ordinal), id: BigInt(id) }),
);

/** OFFSET 0 keeps the planner from joining by a scan of the whole table; for the SELECTs around the parameters see `FIND_PETS`. */
export const FIND_BY_KEYS = new PreparedStatement(
  'find_pets_by_keys',
  `
    SELECT wanted.ordinal, record.*
    FROM unnest((SELECT $1::bigint[]), (SELECT $2::text[])) WITH ORDINALITY AS wanted (client_id, key, ordinal)
    CROSS JOIN LATERAL (
      SELECT pet_id, name, category_id, status
      FROM pets.idempotency_keys WHERE client_id = wanted.client_id AND key = wanted.key OFFSET 0
    ) AS record`,
  ([ordinal, id, name, categoryId, status]: [string, string, string, string, string]) => ({
    ordinal: Number(ordinal),
    pet: { id: BigInt(id), name, categoryId: BigInt(categoryId), status },
  }),
);

const FORGET_KEYS = {
  name: 'forget_keys',
  text: `
    DELETE FROM pets.idempotency_keys WHERE (client_id, key) IN (
      SELECT client_id, key FROM pets.idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )`,
};

/** A creation that is to happen once. */
export interface KeyedPet {
  readonly pet: NewPet;
  readonly key: IdempotencyKey;
}

/** By named prepared statements, several pets in one commit; `docs/performance.md` has the figures. */
export class PostgresPetRepository extends PetRepository {
  private readonly pool: Pool;

  constructor(dataSource: DataSource) {
    super();
    this.pool = poolOf(dataSource);
  }

  override async add(pet: NewPet): Promise<Pet> {
    const [added] = await this.addAll([pet]);
    return answerFor(added);
  }

  override async addOnce(pet: NewPet, key: IdempotencyKey): Promise<CreatedPet> {
    const created = answerFor((await this.addAllOnce([{ pet, key }]))[0]);
    if (created instanceof DomainError) throw created;
    return created;
  }

  /** All or none, in the order given. */
  async addAll(pets: readonly NewPet[]): Promise<Pet[]> {
    const ids = await ADD_PETS.run(this.pool, columnsOf(pets));
    return pets.map(({ name, categoryId, status }, index) => Pet.rehydrate({ id: answerFor(ids[index]), name, categoryId, status }));
  }

  /** In the order given, an error for each key that stands for a different pet. No two of them have the same key. */
  async addAllOnce(keyedPets: readonly KeyedPet[]): Promise<(CreatedPet | DomainError)[]> {
    const results = new Map<KeyedPet, CreatedPet | DomainError>();
    for (let left = keyedPets; left.length > 0; left = left.filter((keyed) => !results.has(keyed))) {
      const keys = [left.map(({ key }) => key.clientId), left.map(({ key }) => key.key)];
      const added = await ADD_PETS_ONCE.run(this.pool, [...keys, ...columnsOf(left.map(({ pet }) => pet))]);
      for (const { ordinal, id } of added) {
        const keyed = answerFor(left[ordinal - 1]);
        const { name, categoryId, status } = keyed.pet;
        results.set(keyed, { pet: Pet.rehydrate({ id, name, categoryId, status }), replayed: false });
      }
      if (added.length === left.length) break;
      // What is found neither way was forgotten in between: the key is free again.
      for (const { ordinal, pet } of await FIND_BY_KEYS.run(this.pool, keys)) {
        const keyed = answerFor(left[ordinal - 1]);
        if (!results.has(keyed)) results.set(keyed, replay(keyed.pet, pet));
      }
    }
    return keyedPets.map((keyed) => answerFor(results.get(keyed)));
  }

  override async forgetKeys(before: Date, limit: number): Promise<number> {
    const { rowCount } = await this.pool.query({ ...FORGET_KEYS, values: [before, limit] });
    return rowCount ?? 0;
  }
}

/** What a repetition is answered with. */
export function replay(repeated: NewPet, known: PetView): CreatedPet | DomainError {
  return repeated.equals(known) ? { pet: Pet.rehydrate(known), replayed: true } : new DomainError(IDEMPOTENCY_KEY_REUSED);
}

function columnsOf(pets: readonly NewPet[]): (string[] | bigint[])[] {
  return [pets.map(({ name }) => name), pets.map(({ categoryId }) => categoryId), pets.map(({ status }) => status)];
}

function answerFor<T>(found: T | undefined): T {
  ok(found, 'PostgreSQL answers for each pet that was sent, and for no other');
  return found;
}
