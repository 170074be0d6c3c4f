import type { Catalogue } from './database-server.js';
import { httpRequest } from './http-requests.js';

/** Workloads that only read come first, so that they see the seeded rows. */
export const WORKLOADS = ['list', 'list-mixed', 'get', 'mixed', 'create'] as const;
export type Workload = (typeof WORKLOADS)[number];

export const STATUSES = ['available', 'pending', 'sold'] as const;
export type Status = (typeof STATUSES)[number];

/** The start of a page: a cursor for the service, the preceding id for the peers. */
export interface PageStart {
  readonly status?: Status | undefined;
  readonly after?: number | undefined;
  readonly cursor?: string | undefined;
}

interface Keyed {
  readonly key: number;
}
export interface ListRequest extends Keyed, PageStart {
  readonly operation: 'list';
  readonly limit: number;
}
export interface GetRequest extends Keyed {
  readonly operation: 'get';
  readonly id: number;
}
export interface CreateRequest extends Keyed {
  readonly operation: 'create';
  readonly name: string;
  readonly categoryId: number;
  readonly status: Status;
}
export type PetRequest = ListRequest | GetRequest | CreateRequest;

/** Placeholder in the name of a pet. The load generator replaces it with eight digits that differ in each request. */
export const SERIAL = '\u0001';

const ONE_PAGE: ListRequest = { operation: 'list', key: 0, limit: 20, status: 'available' };
const LIMITS = [10, 20, 50, 100];
const LIST_LENGTH = 20_000;
const SHARE_OF_WRITES = 0.1;

/** Returns the requests to send in a loop. */
export function createRequests(workload: Workload, { rows, keys, pages }: Catalogue, random: Random): readonly PetRequest[] {
  if (workload === 'list') return [ONE_PAGE];
  const zipfs = pages.map((starts) => new Zipf(starts.length));
  const key = () => (workload === 'mixed' ? random.below(keys.length) : 0);

  const list = (): ListRequest => {
    const filter = random.below(pages.length);
    const start = pages[filter]?.[zipfs[filter]?.rank(random.next()) ?? 0] ?? {};
    return { operation: 'list', key: key(), limit: LIMITS[random.below(LIMITS.length)] ?? 20, ...start };
  };
  const get = (): GetRequest => ({ operation: 'get', key: key(), id: 1 + random.below(rows) });
  const create = (): CreateRequest => ({
    operation: 'create',
    key: key(),
    name: `Pet ${SERIAL} of the bench`,
    categoryId: 1 + random.below(1_000_000),
    status: STATUSES[random.below(STATUSES.length)] ?? 'available',
  });
  const mixed = () => (random.next() < SHARE_OF_WRITES ? create() : random.next() < 0.5 ? list() : get());

  const draw = { 'list-mixed': list, get, create, mixed }[workload];
  return Array.from({ length: LIST_LENGTH }, draw);
}

/** Zipf distribution of ranks from 0: rank r is 1 / (r + 1) as frequent as rank 0. */
class Zipf {
  private readonly cumulative: readonly number[];

  constructor(ranks: number) {
    let sum = 0;
    const sums = Array.from({ length: ranks }, (_, rank) => (sum += 1 / (rank + 1)));
    this.cumulative = sums.map((value) => value / sum);
  }

  /** @param uniform from 0 up to, not including, 1 */
  rank(uniform: number): number {
    const rank = this.cumulative.findIndex((value) => value > uniform);
    return rank < 0 ? this.cumulative.length - 1 : rank;
  }
}

const PAGE_LIMIT = 100;

/** Returns the starts of the first pages. Follows the next links of a service, because only the service can create its cursors. */
export async function findPageStarts(url: string, key: string, status: Status | undefined, pages: number): Promise<PageStart[]> {
  const starts: PageStart[] = [];
  let start: PageStart | undefined = { status };
  while (start && starts.length < pages) {
    starts.push(start);
    const { path, headers } = httpRequest({ operation: 'list', key: 0, limit: PAGE_LIMIT, ...start }, 'cursor', [key]);
    const response = await fetch(url + path, { headers });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}: ${body}`);
    const cursor = /[?&]cursor=([^&>]+)/.exec(response.headers.get('link') ?? '')?.[1];
    const after = (JSON.parse(body) as { id: number }[]).at(-1)?.id;
    start = cursor === undefined ? undefined : { status, after, cursor };
  }
  return starts;
}

/** A pseudorandom number generator with a seed (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** Returns a number from 0 to 1, exclusive. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 to `bound`, exclusive. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  shuffle<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item);
  }
}
