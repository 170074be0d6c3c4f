import { poolOf, retryRead } from '@animal-store/database';
import { INT64_MAX, INT64_MIN, JsonText } from '@animal-store/kernel';
import {
  MAX_PAGE_LENGTH,
  PET_STATUSES,
  PetCatalogue,
  type PetId,
  type PetListQuery,
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

/**
 * $1: identifiers. The SELECT hides from the planner how many they are: it would take a few for cheaper than any number of them, and
 * plan the statement anew each time, which takes as long as running it.
 */
export const FIND_PETS: Statement = {
  name: 'find_pets',
  text: `SELECT ${COLUMNS} FROM pets.pets WHERE id = ANY ((SELECT $1::bigint[])::bigint[])`,
};

/** Byte for byte what a client gets of one pet. Written where the rows lie, it takes a tenth of decoding them and writing them again. */
const JSON_OF_PET = `'{"id":' || id || ',"name":' || to_json(name) || ',"categoryId":' || category_id || ',"status":"' || status || '"}'`;
/** Where a pet begins. No name looks like this: in JSON its quotes are escaped. */
const NEXT_PET = ',{"id":';

/**
 * $1: the least identifier of each page, $2: the length of each page; for the SELECTs around them see `FIND_PETS`. Answers one row per
 * page, in their order: its pets and, if there is one, the pet after them; in that case also the last identifier of the page.
 *
 * The longest page has a literal length: for one unknown PostgreSQL reckons with a tenth of the table, and from some million rows on
 * compiles the statement each time (JIT), which takes a hundred times as long as the page.
 */
const pagesOf = (rowsOfPage: string, order: string): string => `
  SELECT list.json, CASE WHEN list.length > page.size THEN list.ids[page.size] END
  FROM unnest((SELECT $1::bigint[]), (SELECT $2::int[])) WITH ORDINALITY AS page (first, size, ordinal)
  CROSS JOIN LATERAL (
    SELECT string_agg(${JSON_OF_PET}, ',' ORDER BY ${order}) AS json, array_agg(id ORDER BY ${order}) AS ids, count(*) AS length
    FROM (
      SELECT * FROM (SELECT ${COLUMNS} FROM pets.pets WHERE ${rowsOfPage} ORDER BY ${order} LIMIT ${String(MAX_PAGE_LENGTH + 1)}) AS longest
      LIMIT page.size + 1
    ) AS pet
  ) AS list
  ORDER BY page.ordinal`;

export const LIST_PETS: Statement = {
  name: 'list_pets',
  text: pagesOf('id >= page.first', 'id'),
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
      text: pagesOf(`(status, id) >= ('${status}', page.first) AND status <= '${status}'`, 'status, id'),
    },
  ]),
) as Record<PetStatus, Statement>;

const NO_PETS = new JsonText('[]');

type PetRow = [id: bigint, name: string, categoryId: bigint, status: string];
type PageRow = [json: string | null, next: bigint | null];

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
    const [page] = await this.listAll(status, [request]);
    if (!page) throw new Error('PostgreSQL answered no page.');
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
    // Nothing comes after the greatest identifier.
    const sizes = requests.map(({ after, limit }) => (after === INT64_MAX ? -1 : limit));
    return (await this.query<PageRow>(statement, [firsts, sizes])).map(toPage);
  }

  private async query<Row extends unknown[]>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const { rows } = await retryRead(() => this.pool.query<Row>({ ...statement, rowMode: 'array', values: [...values] }));
    return rows;
  }
}

function toView([id, name, categoryId, status]: PetRow): PetView {
  return { id, name, categoryId, status };
}

function toPage([json, next]: PageRow): PetPage {
  if (json === null) return { pets: NO_PETS };
  if (next === null) return { pets: new JsonText(`[${json}]`) };
  return { pets: new JsonText(`[${json.slice(0, json.lastIndexOf(NEXT_PET))}]`), next: next as PetId };
}
