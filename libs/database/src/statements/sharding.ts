import { MAX_PAGE_SIZE } from '@animal-store/kernel';
import type { EntityMetadata } from 'typeorm';
import type { Deployment, Persistence } from '../persistence.js';
import type { KeyTable } from './insert-statements.js';

interface PagesSql {
  /** The values of a page, in the order of the types. The last one is its size. */
  readonly values: readonly string[];
  /** The FROM item of the pages, which precedes the list of one page. */
  readonly from: string;
  readonly orderBy: string;
  /** Limits the rows of a page to one more than its size. */
  limit(rows: string, order: string): string;
}

/** How statements find the rows of a table. Chosen once per repository. */
export interface Sharding {
  /** The parameter of a read by identifiers. */
  readonly ids: string;
  /** The end of a subquery that finds one row by its primary key. */
  readonly endOfLookup: string;
  /** Whether a row that is inserted alone has its own statement, and unique values are checked before. */
  readonly insertsOne: boolean;
  /** `SETS_LOCK_TIMEOUT`, if the database supports that. */
  readonly setsLockTimeout: string;
  /** A condition that skips keys that exist. Without it, they fail the insert. */
  unlessRecorded(keys: KeyTable): string;
  /** Returns the table that an error names. */
  tableOf(name: string | undefined): string | undefined;
  pages(types: readonly string[]): PagesSql;
  /** Runs the pages, in one statement if the database supports that. */
  runPages<Page, Result>(run: (pages: readonly Page[]) => Promise<Result[]>, pages: readonly Page[]): Promise<Result[]>;
}

/** `(SELECT $1)` hides the number of values from the planner, which otherwise plans each execution again, at the cost of executing it. */
export const hiddenArrays = (types: readonly string[]): string =>
  types.map((type, index) => `(SELECT $${String(index + 1)}::${type}[])`).join(', ');

/** Less than PostgreSQL's deadlock_timeout, so that batches that wait for each other end before. */
const LOCK_TIMEOUT_MS = 100;
/** A condition that is always true. Limits how long its statement, and with it a connection of the pool, waits for locks. */
export const SETS_LOCK_TIMEOUT = `(SELECT set_config('lock_timeout', '${String(LOCK_TIMEOUT_MS)}', true)) IS NOT NULL`;

const ONE_SERVER: Sharding = {
  ids: '(SELECT $1::bigint[])::bigint[]',
  // OFFSET 0 prevents a plan that scans the whole table, here and in `unlessRecorded`.
  endOfLookup: ' OFFSET 0',
  insertsOne: true,
  setsLockTimeout: SETS_LOCK_TIMEOUT,
  unlessRecorded: ({ name }) => ` AND NOT EXISTS (SELECT FROM ${name} WHERE client_id = input_client AND key = input_key OFFSET 0)`,
  tableOf: (name) => name,
  pages(types) {
    const names = types.map((_, index) => `value${String(index)}`);
    const values = names.map((name) => `page.${name}`);
    return {
      values,
      from: `unnest(${hiddenArrays(types)}) WITH ORDINALITY AS page (${names.join(', ')}, ordinal) CROSS JOIN LATERAL `,
      orderBy: ' ORDER BY page.ordinal',
      // A literal bounds the cost of the plan. For an unknown LIMIT, PostgreSQL assumes a tenth of the table and would use JIT compilation
      // for each execution, which takes a hundred times as long as the page. The outer ORDER BY prevents another sort.
      limit: (rows, order) =>
        `SELECT * FROM (${rows} LIMIT ${String(MAX_PAGE_SIZE + 1)}) AS longest ORDER BY ${order} LIMIT ${values.at(-1)} + 1`,
    };
  },
  runPages: (run, pages) => run(pages),
};

/** For tables that Citus distributes (ADR 19). Citus finds the shard of a row only if the parameter is not hidden. */
const CITUS: Sharding = {
  ids: '$1::bigint[]',
  // Citus cannot push down OFFSET 0, and shards are smaller.
  endOfLookup: '',
  // All inserts are the statement that was tested with Citus.
  insertsOne: false,
  setsLockTimeout: 'true',
  unlessRecorded: () => '',
  tableOf: (shard) => shard?.replace(/_\d+$/, ''),
  pages(types) {
    const values = types.map((type, index) => `($${String(index + 1)}::${type}[])[1]`);
    return { values, from: '', orderBy: '', limit: (rows) => `${rows} LIMIT ${values.at(-1)} + 1` };
  },
  // Citus cannot push down a LIMIT per page.
  runPages: async (run, pages) => (await Promise.all(pages.map((page) => run([page])))).flat(),
};

export function shardingOf(metadata: EntityMetadata, settings: Deployment): Sharding {
  return settings.citus && isSharded(metadata, settings.persistence) ? CITUS : ONE_SERVER;
}

/** Whether the table is distributed if Citus is on. */
export function isSharded({ schema: name = 'public', target }: EntityMetadata, persistence: readonly Persistence[]): boolean {
  return persistence.some(
    ({ schema, sharded = true, unsharded = [] }) => schema === name && sharded && !unsharded.some((entity) => entity === target),
  );
}
