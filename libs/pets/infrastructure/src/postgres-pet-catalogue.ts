import { poolOf, PreparedStatement, retryRead } from '@animal-store/database';
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

/**
 * $1: identifiers. The SELECT hides from the planner how many they are: it would take a few for cheaper than any number of them, and
 * plan the statement anew each time, which takes as long as running it.
 */
export const FIND_PETS = new PreparedStatement(
  'find_pets',
  `SELECT ${COLUMNS} FROM pets.pets WHERE id = ANY ((SELECT $1::bigint[])::bigint[])`,
  ([id, name, categoryId, status]: [string, string, string, string]): PetView => ({
    id: BigInt(id),
    name,
    categoryId: BigInt(categoryId),
    status,
  }),
);

/**
 * Byte for byte what a client gets of a pet, but for its beginning and end. Written where the rows lie, it takes a tenth of decoding
 * them and writing them again; what separates two pets costs less than what each of them begins and ends with.
 */
const JSON_OF_PET = `id || ',"name":' || to_json(name) || ',"categoryId":' || category_id || ',"status":"' || status`;
const BEFORE_PETS = '[{"id":';
/** No name looks like this: in JSON its quotes are escaped. */
const BETWEEN_PETS = '"},{"id":';
const AFTER_PETS = '"}]';

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
    SELECT string_agg(${JSON_OF_PET}, '${BETWEEN_PETS}' ORDER BY ${order}) AS json, array_agg(id ORDER BY ${order}) AS ids, count(*) AS length
    FROM (
      SELECT * FROM (SELECT ${COLUMNS} FROM pets.pets WHERE ${rowsOfPage} ORDER BY ${order} LIMIT ${String(MAX_PAGE_LENGTH + 1)}) AS longest
      LIMIT page.size + 1
    ) AS pet
  ) AS list
  ORDER BY page.ordinal`;

export const LIST_PETS = new PreparedStatement('list_pets', pagesOf('id >= page.first', 'id'), toPage);

/**
 * One statement per status with the status as a literal, so that PostgreSQL keeps one generic plan for it. Only the index on
 * (status, id) gives the order of the row comparison; `status = …` would let the planner scan the primary key for a rare status.
 */
export const LIST_PETS_BY_STATUS: Readonly<Record<PetStatus, typeof LIST_PETS>> = Object.fromEntries(
  PET_STATUSES.map((status) => [
    status,
    new PreparedStatement(
      `list_pets_${status}`,
      pagesOf(`(status, id) >= ('${status}', page.first) AND status <= '${status}'`, 'status, id'),
      toPage,
    ),
  ]),
) as Record<PetStatus, typeof LIST_PETS>;

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
    const found = await retryRead(() => FIND_PETS.run(this.pool, [ids]));
    const pets = new Map(found.map((pet) => [pet.id, pet]));
    return ids.map((id) => pets.get(id as bigint));
  }

  /** Pages of one status, or of all pets, in the order of the requests. */
  async listAll(status: PetStatus | undefined, requests: readonly PageRequest[]): Promise<PetPage[]> {
    const statement = status === undefined ? LIST_PETS : LIST_PETS_BY_STATUS[status];
    const firsts = requests.map(({ after }) => (after === undefined ? INT64_MIN : after === INT64_MAX ? INT64_MAX : after + 1n));
    // Nothing comes after the greatest identifier.
    const sizes = requests.map(({ after, limit }) => (after === INT64_MAX ? -1 : limit));
    return retryRead(() => statement.run(this.pool, [firsts, sizes]));
  }
}

function toPage([json, next]: [json: string | null, next: string | null]): PetPage {
  if (json === null) return { pets: new JsonText('[]') };
  const ofPage = next === null ? json : json.slice(0, json.lastIndexOf(BETWEEN_PETS));
  const pets = new JsonText(BEFORE_PETS + ofPage + AFTER_PETS);
  return next === null ? { pets } : { pets, next: BigInt(next) as PetId };
}
