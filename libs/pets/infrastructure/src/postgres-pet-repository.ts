import { poolOf } from '@animal-store/database';
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
import type { DataSource, Repository } from 'typeorm';
import { PetEntity } from './pet.entity.js';

/**
 * One statement is one transaction: the pet and the record of its key commit together. No row comes back when the key is known;
 * a repetition that arrives at once waits in the unique index until the first one has committed or failed.
 */
const ADD_ONCE = {
  name: 'add_pet_once',
  text: `
    WITH record AS (
      INSERT INTO pets.idempotency_keys (client_id, key, pet_id, name, category_id, status)
      VALUES ($4, $5, nextval('pets.pets_id_seq'), $1, $2, $3)
      ON CONFLICT DO NOTHING
      RETURNING pet_id
    )
    INSERT INTO pets.pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
    SELECT pet_id, $1, $2, $3 FROM record
    RETURNING id`,
};
const FIND_BY_KEY = {
  name: 'find_pet_by_key',
  text: `SELECT pet_id AS id, name, category_id AS "categoryId", status FROM pets.idempotency_keys WHERE client_id = $1 AND key = $2`,
};
const FORGET_KEYS = {
  name: 'forget_keys',
  text: `
    DELETE FROM pets.idempotency_keys WHERE (client_id, key) IN (
      SELECT client_id, key FROM pets.idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED
    )`,
};

export class PostgresPetRepository extends PetRepository {
  private readonly entities: Repository<PetEntity>;
  private readonly pool: Pool;

  constructor(dataSource: DataSource) {
    super();
    this.entities = dataSource.getRepository(PetEntity);
    this.pool = poolOf(dataSource);
  }

  override async add({ name, categoryId, status }: NewPet): Promise<Pet> {
    // insert(), not save(): save selects before it writes.
    const { identifiers } = await this.entities.insert({ name, categoryId, status });
    const { id } = identifiers[0] as { id: bigint };
    return Pet.rehydrate({ id, name, categoryId, status });
  }

  override async addOnce(pet: NewPet, { clientId, key }: IdempotencyKey): Promise<CreatedPet> {
    const { name, categoryId, status } = pet;
    for (;;) {
      const added = await this.pool.query<{ id: bigint }>({ ...ADD_ONCE, values: [name, categoryId, status, clientId, key] });
      const [row] = added.rows;
      if (row) return { pet: Pet.rehydrate({ id: row.id, name, categoryId, status }), replayed: false };
      const {
        rows: [known],
      } = await this.pool.query<PetView>({ ...FIND_BY_KEY, values: [clientId, key] });
      // Forgotten in between: the key is free again.
      if (!known) continue;
      if (!pet.equals(known)) throw new DomainError(IDEMPOTENCY_KEY_REUSED);
      return { pet: Pet.rehydrate(known), replayed: true };
    }
  }

  override async forgetKeys(before: Date, limit: number): Promise<number> {
    const { rowCount } = await this.pool.query({ ...FORGET_KEYS, values: [before, limit] });
    return rowCount ?? 0;
  }
}
