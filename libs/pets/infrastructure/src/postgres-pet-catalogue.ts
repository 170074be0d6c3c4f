import { poolOf, retryRead } from '@animal-store/database';
import { INT64_MAX, INT64_MIN } from '@animal-store/kernel';
import {
  PET_STATUSES,
  PetCatalogue,
  type PetId,
  type PetListQuery,
  petPage,
  type PetPage,
  type PetStatus,
  type PetView,
} from '@animal-store/pets-domain';
import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';

const COLUMNS = 'id, name, category_id, status';

interface Statement {
  readonly name: string;
  readonly text: string;
}

/** $1: identifiers. */
export const FIND_PETS: Statement = {
  name: 'find_pets',
  text: `SELECT ${COLUMNS} FROM pets.pets WHERE id = ANY ($1)`,
};

/** $1: the least identifier of each page, $2: the length of each page. The last column is the page's place in $1, from 1. */
const pagesOf = (rowsOfPage: string): string => `
  SELECT pet.*, page.ordinal::int
  FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS page (first, size, ordinal)
  CROSS JOIN LATERAL (SELECT ${COLUMNS} FROM pets.pets WHERE ${rowsOfPage} LIMIT page.size) AS pet`;

export const LIST_PETS: Statement = {
  name: 'list_pets',
  text: pagesOf('id >= page.first ORDER BY id'),
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
      text: pagesOf(`(status, id) >= ('${status}', page.first) AND status <= '${status}' ORDER BY status, id`),
    },
  ]),
) as Record<PetStatus, Statement>;

type PetRow = [id: bigint, name: string, categoryId: bigint, status: string];
type PageRow = [...PetRow, ordinal: number];

/** A page of pets whose status is known from elsewhere. */
export type PageRequest = Omit<PetListQuery, 'status'>;

/**
 * Plain rows by named prepared statements, several pets or pages in one round trip: TypeORM has no words for these, and
 * hydration would cost more than the query.
 */
export class PostgresPetCatalogue extends PetCatalogue {
  private readonly pool: Pool;

  constructor(dataSource: DataSource) {
    super();
    this.pool = poolOf(dataSource);
  }

  override async find(id: PetId): Promise<PetView | undefined> {
    return (await this.findAll([id]))[0];
  }

  override async list({ status, ...request }: PetListQuery): Promise<PetPage> {
    const [page = { pets: [] }] = await this.listAll(status, [request]);
    return page;
  }

  /** In the order of the identifiers. */
  async findAll(ids: readonly PetId[]): Promise<(PetView | undefined)[]> {
    const rows = await this.query<PetRow>(FIND_PETS, [ids]);
    const pets = new Map(rows.map((row) => [row[0], toView(row)]));
    return ids.map((id) => pets.get(id as bigint));
  }

  /** Pages of one status, or of all pets, in the order of the requests. */
  async listAll(status: PetStatus | undefined, requests: readonly PageRequest[]): Promise<PetPage[]> {
    const statement = status === undefined ? LIST_PETS : LIST_PETS_BY_STATUS[status];
    const firsts = requests.map(({ after }) => (after === undefined ? INT64_MIN : after === INT64_MAX ? INT64_MAX : after + 1n));
    // One more than asked for tells whether a further pet exists. Nothing comes after the greatest identifier.
    const sizes = requests.map(({ after, limit }) => (after === INT64_MAX ? 0 : limit + 1));
    const found = requests.map((): PetView[] => []);
    for (const row of await this.query<PageRow>(statement, [firsts, sizes])) found[row[4] - 1]?.push(toView(row));
    // PostgreSQL promises the order of each page, but none of the joined rows.
    return requests.map(({ limit }, index) => petPage((found[index] ?? []).sort(byId), limit));
  }

  private async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await retryRead(() => this.pool.query<Row>({ ...statement, rowMode: 'array', values: [...values] }));
    return rows;
  }
}

function toView([id, name, categoryId, status]: PetRow | PageRow): PetView {
  return { id, name, categoryId, status };
}

function byId(one: PetView, other: PetView): number {
  return one.id < other.id ? -1 : 1;
}
