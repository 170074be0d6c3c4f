import { poolOf, retryRead } from '@animal-store/database';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import { PET_STATUSES, PetCatalogue, type PetId, type PetListQuery, type PetStatus, type PetView } from '@animal-store/pets-domain';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

const COLUMNS = 'id, name, category_id AS "categoryId", status';

interface Statement {
  readonly name: string;
  readonly text: string;
}

export const FIND_PET: Statement = {
  name: 'find_pet',
  text: `SELECT ${COLUMNS} FROM pets.pets WHERE id = $1`,
};

/** $1: the least identifier of the page, $2: its length. */
export const LIST_PETS: Statement = {
  name: 'list_pets',
  text: `SELECT ${COLUMNS} FROM pets.pets WHERE id >= $1 ORDER BY id LIMIT $2`,
};

/**
 * One statement per status with the status as a literal, so that PostgreSQL keeps one generic plan for it. Only the index on
 * (status, id) gives the order of the row comparison; `status = …` would let the planner scan the primary key for a rare status.
 */
export const LIST_PETS_BY_STATUS: Readonly<Record<PetStatus, Statement>> = Object.fromEntries(
  PET_STATUSES.map((status) => [
    status,
    {
      name: `list_pets_${status}`,
      text: `SELECT ${COLUMNS} FROM pets.pets WHERE (status, id) >= ('${status}', $1) AND status <= '${status}' ORDER BY status, id LIMIT $2`,
    },
  ]),
) as Record<PetStatus, Statement>;

/** Plain rows by named prepared statements: TypeORM has no words for these, and hydration would cost more than the query. */
export class PostgresPetCatalogue extends PetCatalogue {
  private readonly pool: Pool;

  constructor(dataSource: DataSource) {
    super();
    this.pool = poolOf(dataSource);
  }

  override async find(id: PetId): Promise<PetView | undefined> {
    const { rows } = await retryRead(() => this.pool.query<PetView>({ ...FIND_PET, values: [id] }));
    return rows[0];
  }

  override async list({ limit, status, after }: PetListQuery): Promise<readonly PetView[]> {
    if (after === INT64_MAX) return [];
    const first = after === undefined ? INT64_MIN : after + 1n;
    const statement = status === undefined ? LIST_PETS : LIST_PETS_BY_STATUS[status];
    const { rows } = await retryRead(() => this.pool.query<PetView>({ ...statement, values: [first, limit] }));
    return rows;
  }
}
